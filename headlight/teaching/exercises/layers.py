"""Exercises: the feed-forward network, an encoder layer and a decoder layer, post-norm as in the paper.

The sublayers are given, so students only write the forward pass through them.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from headlight.teaching.exercises.attention import maps, multi_head
from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, Slip, instantiate, require_module
from headlight.teaching.exercises.masks import look_ahead_mask

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "none": lambda x: x,
    "gelu": F.gelu,
    "tanh": F.tanh,
    "sigmoid": F.sigmoid,
    "softmax": lambda x: x.softmax(-1),
}


def feed_forward(
    d_model: int,
    d_ff: int,
    weights: dict[str, Tensor],
    x: Tensor,
    activation: str = "relu",
    after: str = "inner",
    residual: bool = False,
) -> Tensor:
    """Return max(0, x W₁ + b₁) W₂ + b₂ for each token: [B, T, d_model]."""
    act = ACTIVATIONS[activation]
    h = x @ weights["inner.weight"].mT + weights["inner.bias"]
    h = act(h) if after in ("inner", "both") else h
    h = h @ weights["outer.weight"].mT + weights["outer.bias"]
    h = act(h) if after in ("outer", "both") else h
    return x + h if residual else h


def _feed_forward_cases(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(2):
        B, T, d_model, d_ff = draw.sizes(4)
        weights = {"inner.weight": draw.normal(d_ff, d_model), "inner.bias": draw.normal(d_ff)}
        weights |= {"outer.weight": draw.normal(d_model, d_ff), "outer.bias": draw.normal(d_model)}
        x = draw.normal(B, T, d_model)
        cases.append(Case("", {"d_model": d_model, "d_ff": d_ff, "weights": weights, "x": x}))
    return cases


FEED_FORWARD = Exercise(
    "FeedForward",
    "feed_forward.py",
    feed_forward,
    _feed_forward_cases,
    (
        KnownMistake(
            {"activation": "none"},
            "There is no ReLU, so that the two linear maps are together no more than one: `torch.relu` between them.",
        ),
        KnownMistake({"after": "outer"}, "The ReLU comes after the second map; it belongs between the two."),
        KnownMistake(
            {"after": "both"},
            "There is a ReLU after the second map, too, so that nothing is ever subtracted: one between the two.",
        ),
        KnownMistake({"activation": "gelu"}, "This is GELU, which BERT and GPT take; the paper's is ReLU."),
        KnownMistake({"activation": "tanh"}, "This is tanh; the paper's is ReLU: max(0, x)."),
        KnownMistake({"activation": "sigmoid"}, "This is the sigmoid; the paper's is ReLU: max(0, x)."),
        KnownMistake({"activation": "softmax"}, "There is a softmax between the maps; it is ReLU: max(0, x)."),
        KnownMistake(
            {"residual": True}, "x is added to the result; the residual connection is the layer's, around this network."
        ),
    ),
    implementation="FeedForward in transformer/layers.py",
    aliases=("PositionwiseFeedForward", "PositionWiseFeedForward", "FeedForwardBlock", "FeedForwardNetwork", "FFN"),
    slips=(
        (
            "mat1 and mat2|size of tensor a",
            "Some sizes do not fit: `self.inner` goes from d_model to d_ff numbers, `self.outer` back.",
        ),
    ),
    call=lambda attempt, inputs: instantiate(
        attempt, (inputs["d_model"], inputs["d_ff"]), inputs["weights"]
    )(inputs["x"]),
)


class Attention(nn.Module):
    """Heads with random weights."""

    def __init__(self, draw: Draw, d_model: int, n_heads: int):
        super().__init__()
        self.weights, self.n_heads = maps(draw, d_model), n_heads

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
        return multi_head(queries.size(-1), self.n_heads, self.weights, queries, keys, values, mask)


def _norm(draw: Draw, d_model: int) -> nn.LayerNorm:
    norm = nn.LayerNorm(d_model).requires_grad_(False)
    norm.weight.add_(draw.normal(d_model) / 2)
    norm.bias.add_(draw.normal(d_model) / 2)
    return norm


class _FeedForward(nn.Module):
    def __init__(self, draw: Draw, d_model: int, d_ff: int = 16):
        super().__init__()
        self.inner, self.outer = draw.normal(d_model, d_ff), draw.normal(d_ff, d_model) / 4

    def forward(self, x: Tensor) -> Tensor:
        return (x @ self.inner).relu() @ self.outer


def encoder_parts(draw: Draw, d_model: int, n_heads: int) -> dict[str, Any]:
    """Return an encoder layer's parts, with random weights."""
    parts = {"attention": Attention(draw, d_model, n_heads), "feed_forward": _FeedForward(draw, d_model)}
    return parts | {f"norm_{i}": _norm(draw, d_model) for i in (1, 2)}


def decoder_parts(draw: Draw, d_model: int, n_heads: int) -> dict[str, Any]:
    """Return a decoder layer's parts, with random weights."""
    parts: dict[str, Any] = {name: Attention(draw, d_model, n_heads) for name in ("self_attention", "cross_attention")}
    parts |= {"feed_forward": _FeedForward(draw, d_model)}
    return parts | {f"norm_{i}": _norm(draw, d_model) for i in (1, 2, 3)}


def _residual(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor], way: str) -> Tensor:
    """Apply a sublayer with its residual connection and its norm."""
    match way:
        case "pre":
            return x + sublayer(norm(x))
        case "normed path":
            return norm(x) + sublayer(norm(x))
        case "no path":
            return norm(sublayer(x))
        case "no norm":
            return x + sublayer(x)
        case "norm inside":
            return x + norm(sublayer(x))
        case "left out":
            return x
    return norm(x + sublayer(x))


def encoder_layer(
    parts: dict[str, Any],
    x: Tensor,
    mask: Tensor | None,
    ways: str = "",
    attention: str = "",
    feed_forward: str = "",
    norms: str = "own",
    masked: bool = True,
) -> Tensor:
    """Apply self-attention, then the feed-forward network: [B, S, d_model]."""
    look, think = parts["attention"], parts["feed_forward"]
    first, second = parts["norm_1"], parts["norm_1" if norms == "first" else "norm_2"]
    x = _residual(x, lambda h: look(h, h, h, mask if masked else None), first, attention or ways)
    return _residual(x, think, second, feed_forward or ways)


def decoder_layer(
    parts: dict[str, Any],
    x: Tensor,
    memory: Tensor,
    target_mask: Tensor | None,
    source_mask: Tensor | None,
    ways: str = "",
    own: str = "",
    cross: str = "",
    feed_forward: str = "",
    order: str = "",
    reads: str = "memory",
    masks: str = "",
    attentions: str = "",
    norms: str = "own",
    memory_normed: bool = False,
) -> Tensor:
    """Apply self-attention, cross-attention, then the feed-forward network: [B, T, d_model]."""
    if masks == "exchanged":
        target_mask, source_mask = source_mask, target_mask
    elif masks == "source twice":
        target_mask = source_mask
    elif masks == "target twice":
        source_mask = target_mask
    hiding = {"target": None if masks == "no target" else target_mask}
    hiding["source"] = None if masks == "no source" else source_mask
    look, ask = parts["self_attention"], parts["cross_attention"]
    if attentions == "same":
        ask = look
    names = ("norm_1",) * 3 if norms == "first" else ("norm_1", "norm_2", "norm_3")
    norm_1, norm_2, norm_3 = (parts[name] for name in names)
    if memory_normed:
        memory = norm_2(memory)

    def attend_to_memory(h: Tensor) -> Tensor:
        match reads:
            case "itself":
                return ask(h, h, h, hiding["source"])
            case "exchanged":
                return ask(memory, h, h, hiding["source"])
            case "keys":
                return ask(h, memory, h, hiding["source"])
        return ask(h, memory, memory, hiding["source"])

    if order == "cross first":
        x = _residual(x, attend_to_memory, norm_2, cross or ways)
        x = _residual(x, lambda h: look(h, h, h, hiding["target"]), norm_1, own or ways)
    else:
        x = _residual(x, lambda h: look(h, h, h, hiding["target"]), norm_1, own or ways)
        x = _residual(x, attend_to_memory, norm_2, cross or ways)
    return _residual(x, parts["feed_forward"], norm_3, feed_forward or ways)


def _call(attempt: Any, inputs: dict[str, Any]) -> Any:
    parts, *read = inputs.values()
    require_module(attempt)
    return attempt(**parts).eval()(*read)


_SLIPS: tuple[Slip, ...] = (
    (
        r"Attention.forward\(\)",
        "An attention takes four: queries, keys, values and the mask, as in `self.attention(x, x, x, mask)`.",
    ),
    (
        "too many values to unpack|not enough values to unpack",
        "An attention gives one tensor here, not (output, weights): take it without unpacking.",
    ),
    (
        "size of tensor a|sizes? of tensors? must match|Sizes of tensors|invalid for input of size",
        "Some sizes do not fit: the sentence and the memory have different lengths. Each attention takes (queries, "
        "keys, values, mask), where keys and values are of one sentence, and the mask hides tokens of that sentence.",
    ),
)


def _ways(name: str, sublayer: str, norm: str) -> tuple[KnownMistake, ...]:
    return (
        KnownMistake(
            {name: "no path"}, f"The residual connection around the {sublayer} is missing: add x to what it gives."
        ),
        KnownMistake({name: "no norm"}, f"The norm after the {sublayer} is missing: `self.{norm}`."),
        KnownMistake(
            {name: "pre"}, f"The norm stands before the {sublayer}; it comes after the sum: norm(x + sublayer(x))."
        ),
        KnownMistake({name: "left out"}, f"The {sublayer} is left out, or its result is dropped."),
    )


_ALL_SUBLAYERS = (
    KnownMistake(
        {"ways": "pre"},
        "The norm stands before each sublayer: that is pre-norm, which many later models use. The paper, and this "
        "exercise, norm after the sum: norm(x + sublayer(x)).",
    ),
    KnownMistake(
        {"ways": "no path"}, "The residual connections are missing: norm(x + sublayer(x)), not norm(sublayer(x))."
    ),
    KnownMistake({"ways": "no norm"}, "The norms are missing: norm(x + sublayer(x))."),
    KnownMistake(
        {"ways": "norm inside"},
        "The sublayer is normed before the sum, x + norm(sublayer(x)); it is norm(x + sublayer(x)).",
    ),
    KnownMistake(
        {"ways": "normed path"},
        "The residual connection starts after the norm, norm(x) + sublayer(norm(x)), so that x itself is lost; it is "
        "norm(x + sublayer(x)).",
    ),
)
_ONE_NORM = KnownMistake({"norms": "first"}, "Every sublayer uses `self.norm_1`; each has a norm of its own.")


def _encoder_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, hides in (("without a mask", False), ("with padding hidden", True)):
        n_heads, d_head, B, S = draw.sizes(4, high=6)
        d_model = n_heads * d_head
        x, mask = draw.normal(B, S, d_model), draw.mask(B, 1, 1, S) if hides else None
        cases.append(Case(about, {"parts": encoder_parts(draw, d_model, n_heads), "x": x, "mask": mask}))
    return cases


ENCODER_LAYER = Exercise(
    "EncoderLayer",
    "encoder_layer.py",
    encoder_layer,
    _encoder_cases,
    (
        *_ALL_SUBLAYERS,
        *_ways("attention", "attention", "norm_1"),
        *_ways("feed_forward", "feed-forward network", "norm_2"),
        _ONE_NORM,
        KnownMistake({"masked": False}, "The mask does not reach the attention: pass it on."),
    ),
    implementation="EncoderLayer in transformer/layers.py",
    slips=_SLIPS,
    aliases=("EncoderBlock", "TransformerEncoderLayer"),
    call=_call,
)


# In the first case exchanged sentences or masks still give numbers to compare.
SOURCE_LENGTHS = (("where source and target are of one length", True), ("with a source of its own length", False))


def _decoder_cases(draw: Draw) -> list[Case]:
    cases = []
    for about, equal in SOURCE_LENGTHS:
        n_heads, d_head, B, T, S = draw.sizes(5, high=7)
        S, d_model = T if equal else S, n_heads * d_head
        inputs: dict[str, Any] = {"parts": decoder_parts(draw, d_model, n_heads)}
        inputs |= {"x": draw.normal(B, T, d_model), "memory": draw.normal(B, S, d_model)}
        inputs |= {"target_mask": look_ahead_mask(T)[None, None], "source_mask": draw.mask(B, 1, 1, S)}
        cases.append(Case(about, inputs))
    return cases


DECODER_LAYER = Exercise(
    "DecoderLayer",
    "decoder_layer.py",
    decoder_layer,
    _decoder_cases,
    (
        *_ALL_SUBLAYERS,
        *_ways("own", "self-attention", "norm_1"),
        *_ways("cross", "cross-attention", "norm_2"),
        *_ways("feed_forward", "feed-forward network", "norm_3"),
        _ONE_NORM,
        KnownMistake(
            {"reads": "itself"}, "Cross-attention reads the target itself; its keys and values are the memory."
        ),
        KnownMistake(
            {"reads": "exchanged"},
            "Queries and memory have changed places in cross-attention: the target asks, so x is the queries, and the "
            "memory is keys and values.",
        ),
        KnownMistake({"reads": "keys"}, "Only the keys of cross-attention are the memory; the values are, too."),
        KnownMistake({"masks": "exchanged"}, "The masks have changed places: self-attention takes `target_mask`."),
        KnownMistake(
            {"masks": "source twice"}, "Self-attention gets `source_mask`; it reads the target, so `target_mask`."
        ),
        KnownMistake(
            {"masks": "target twice"}, "Cross-attention gets `target_mask`; it reads the source, so `source_mask`."
        ),
        KnownMistake(
            {"masks": "no target"}, "Self-attention gets no `target_mask`: it sees the tokens that it should predict."
        ),
        KnownMistake({"masks": "no source"}, "Cross-attention gets no `source_mask`: it looks at padding."),
        KnownMistake(
            {"order": "cross first"}, "Cross-attention comes before self-attention; it is the other way round."
        ),
        KnownMistake(
            {"memory_normed": True},
            "The memory is normed before cross-attention reads it; it is read as the encoder gave it.",
        ),
        KnownMistake(
            {"ways": "pre", "memory_normed": True},
            "The norm stands before each sublayer, and norms the memory, too. The exercise is post-norm, norm(x + "
            "sublayer(x)), and the memory is read as the encoder gave it.",
        ),
        KnownMistake(
            {"attentions": "same"}, "Cross-attention goes through `self.self_attention`; it has weights of its own."
        ),
    ),
    implementation="DecoderLayer in transformer/layers.py",
    slips=_SLIPS,
    aliases=("DecoderBlock", "TransformerDecoderLayer"),
    call=_call,
)
