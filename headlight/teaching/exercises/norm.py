"""Exercise: layer norm."""

from __future__ import annotations

from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, instantiate


def layer_norm(
    d_model: int,
    weights: dict[str, Tensor],
    x: Tensor,
    over: tuple[int, ...] = (-1,),
    unbiased: bool = False,
    eps: str = "inside",
    centred: bool = True,
    root: bool = True,
    gain: bool = True,
    bias: bool = True,
) -> Tensor:
    """Return gain ⊙ (x - mean) / √(variance + ε) + bias, over the features of each token: [B, T, d_model]."""
    small = 1e-5
    variance = x.var(over, unbiased, keepdim=True)
    if eps == "outside":
        below = variance.sqrt() + small
    else:
        below = variance + (small if eps == "inside" else 0.0)
        below = below.sqrt() if root else below
    normal = (x - x.mean(over, keepdim=True) if centred else x) / below
    return normal * (weights["gain"] if gain else 1.0) + (weights["bias"] if bias else 0.0)


def _cases(draw: Draw) -> list[Case]:
    cases = []
    for about, scale in (("", 2.0), ("with small numbers, where ε shows", 2e-3)):
        B, T, d_model = draw.sizes(3, low=3)
        weights = {"gain": 1 + draw.normal(d_model) / 2, "bias": draw.normal(d_model)}
        cases.append(
            Case(about, {"d_model": d_model, "weights": weights, "x": (draw.normal(B, T, d_model) + 0.5) * scale})
        )
    return cases


LAYER_NORM = Exercise(
    "LayerNorm",
    "layer_norm.py",
    layer_norm,
    _cases,
    (
        KnownMistake(
            {"unbiased": True},
            "The deviation is the unbiased one, divided by d_model - 1, as `x.std()` and `x.var()` compute it by "
            "themselves: pass `unbiased=False`.",
        ),
        KnownMistake(
            {"eps": "outside"},
            "ε is added outside of the root, to the deviation; it belongs inside: √(variance + ε).",
        ),
        KnownMistake(
            {"unbiased": True, "eps": "outside"},
            "The deviation is the unbiased one, and ε is added outside of the root: it is √(variance + ε), with "
            "`x.var(-1, unbiased=False, keepdim=True)`.",
        ),
        KnownMistake({"eps": "none"}, "ε is missing: a token whose numbers are all equal would be divided by 0."),
        KnownMistake(
            {"over": (-2,)}, "Mean and variance are over the tokens; each token is normed by itself, over `dim=-1`."
        ),
        KnownMistake({"over": (0,)}, "Mean and variance are over the batch, as in batch norm; they are over `dim=-1`."),
        KnownMistake(
            {"over": (0, 1)},
            "Mean and variance are over the batch and its tokens, as in batch norm, so that a token depends on the "
            "sentences beside it; each token is normed by itself, over `dim=-1`.",
        ),
        KnownMistake(
            {"over": (-2, -1)},
            "Mean and variance are over tokens and features together; they are over features: `dim=-1`.",
        ),
        KnownMistake({"root": False}, "It is divided by the variance; it is its root, the deviation."),
        KnownMistake({"centred": False}, "The mean is not subtracted."),
        KnownMistake({"gain": False}, "The gain is not applied: multiply with `self.gain`."),
        KnownMistake({"bias": False}, "The bias is not applied: add `self.bias`."),
        KnownMistake({"gain": False, "bias": False}, "Gain and bias are not applied."),
    ),
    implementation="layer_norm of PyTorch, which transformer/layers.py takes as nn.LayerNorm",
    aliases=("LayerNormalization", "NormLayer", "Norm"),
    slips=(
        (
            "size of tensor a",
            "Some sizes do not fit: mean and variance need `keepdim=True`, so that they have one number a token, [B, "
            "T, 1].",
        ),
    ),
    call=lambda attempt, inputs: instantiate(attempt, (inputs["d_model"],), inputs["weights"])(inputs["x"]),
)
