"""Exercises: scaled dot-product attention, and its heads.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head, E numbers of a value.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake, Slip, instantiate


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    scale: str = "head",
    divided: str = "scores",
    axis: int = -1,
    masking: str = "before",
    weighs: str = "values",
    lowest: float = -math.inf,
) -> Tensor:
    """Return softmax(q kᵀ / √D) v: [B, H, Q, E]."""
    divisor = {
        "head": q.size(-1) ** 0.5,
        "none": 1.0,
        "model": (q.size(1) * q.size(-1)) ** 0.5,
        "whole": q.size(-1),
        "keys": k.size(-2) ** 0.5,
        "queries": q.size(-2) ** 0.5,
        "8": 8**0.5,
        "64": 8.0,
    }[scale]
    scores = q @ k.mT / (divisor if divided == "scores" else 1.0)
    if mask is not None and masking not in ("dropped", "after"):
        hidden = mask if masking == "inverted" else ~mask
        added = scores + mask if masking == "added" else scores
        filled = {"zero": 0.0, "added": None}.get(masking, lowest)
        scores = added if filled is None else scores.masked_fill(hidden, filled)
    weights = {"scores": lambda: scores, "logarithms": lambda: scores.log_softmax(axis)}.get(
        weighs, lambda: scores.softmax(axis)
    )()
    if divided == "weights":
        weights = weights / divisor
    if mask is not None and masking == "after":
        weights = weights * mask
    return weights @ v


_MASKING = (
    KnownMistake(
        {"masking": "inverted"},
        "The mask is inverted: you hide what it marks. It is True where a query may look, so `~mask` is what to hide.",
    ),
    KnownMistake(
        {"masking": "zero"},
        "Masked scores become 0, or nearly so, as with 1e-9 in the place of -1e9; e⁰ is 1, so that a hidden key still "
        "gets weight. Fill with -inf before the softmax.",
    ),
    KnownMistake(
        {"masking": "after"},
        "You mask after the softmax, so a query's weights no longer sum to 1. Fill the scores with -inf before it.",
    ),
    KnownMistake(
        {"masking": "added"},
        "The mask is added to the scores as it stands, where True counts as 1: nothing is hidden. Fill with -inf where "
        "it is False.",
    ),
)
_STYLES: tuple[dict[str, Any], ...] = ({}, {"lowest": -1e9})  # a softmax over -1e9 alone is not NaN
_SOFTMAX = (
    KnownMistake(
        {"axis": -2},
        "Your weights sum to 1 over the queries; they should over the keys: softmax over the last dimension, `dim=-1`.",
    ),
    KnownMistake(
        {"axis": 1},
        "Your weights sum to 1 over the heads; they should over the keys: softmax over the last dimension, `dim=-1`.",
    ),
    KnownMistake(
        {"axis": 0},
        "Your weights sum to 1 over the sentences of the batch; they should over the keys: softmax over the last "
        "dimension, `dim=-1`.",
    ),
    KnownMistake(
        {"weighs": "logarithms"},
        "These are the logarithms of the weights: attention takes `softmax`, not `log_softmax`.",
    ),
)


def _scales(head: str) -> tuple[KnownMistake, ...]:
    return (
        KnownMistake(
            {"scale": "none"}, f"The scores are not divided by √{head}: without it a few keys take all the weight."
        ),
        KnownMistake(
            {"scale": "model"}, f"The scores are divided by √d_model; it is √{head}, the length of one head's queries."
        ),
        KnownMistake({"scale": "whole"}, f"The scores are divided by {head}; it is its square root."),
        KnownMistake(
            {"scale": "keys"},
            f"The scores are divided by the root of the number of keys; it is √{head}: `q.size(-1)`, not the length of "
            "the sentence.",
        ),
        KnownMistake(
            {"scale": "queries"},
            f"The scores are divided by the root of the number of queries; it is √{head}: `q.size(-1)`, not the length "
            "of the sentence.",
        ),
        KnownMistake(
            {"scale": "8"}, f"The scores are divided by √8 whatever the size; it is √{head}: take `q.size(-1)`."
        ),
        KnownMistake(
            {"scale": "64"},
            f"The scores are divided by 8, which is √64, whatever the size; it is √{head}: take `q.size(-1)`.",
        ),
        KnownMistake(
            {"divided": "weights"},
            f"You divide by √{head} after the softmax, so the weights sum to less than 1; divide the scores before it.",
        ),
    )


def _cases(draw: Draw) -> list[Case]:
    def inputs(mask: str, square: bool = False, identity: bool = False) -> dict[str, Any]:
        B, H, Q, K, D, E = draw.sizes(6)
        K = Q if square else K
        v = torch.eye(K).repeat(B, H, 1, 1) if identity else draw.normal(B, H, K, E)
        hidden = {"none": None, "own": draw.mask(B, 1, Q, K), "padding": draw.mask(B, 1, 1, K)}[mask]
        return {"q": draw.normal(B, H, Q, D), "k": draw.normal(B, H, K, D), "v": v, "mask": hidden}

    return [
        Case("without a mask", inputs("none", square=True)),
        Case("with another number of keys than queries", inputs("none")),
        Case("with a mask of each query's own", inputs("own")),
        Case("with padding hidden", inputs("padding")),
        Case("with the identity as v", inputs("none", identity=True)),  # so that the output is the weights
    ]


_ONE_OUTPUT: Slip = (
    "too many values to unpack|not enough values to unpack",
    "One tensor is given here, the output, not (output, weights): take it without unpacking.",
)

ATTEND = Exercise(
    "attend",
    "attend.py",
    attend,
    _cases,
    (
        *_SOFTMAX,
        *_scales("D"),
        KnownMistake(
            {"masking": "dropped"},
            "The mask hides nothing. If you call `masked_fill`, its result is dropped: it returns a new tensor, so "
            "write `scores = scores.masked_fill(...)`, or `masked_fill_` with its underscore.",
        ),
        *_MASKING,
        KnownMistake({"weighs": "scores"}, "There is no softmax: the values are weighed with the scores themselves."),
    ),
    implementation="attend in transformer/attention.py",
    styles=_STYLES,
    slips=(
        (
            "mat1 and mat2|Expected size for first two dimensions|size of tensor a",
            "Some sizes do not fit. q kᵀ needs the last two dimensions of k exchanged, `k.transpose(-2, -1)`, and "
            "gives [B, H, Q, K]; there may be more keys than queries.",
        ),
        (
            r"T.* expects a tensor with <= 2",
            "Of four dimensions only the last two change places: `k.transpose(-2, -1)`.",
        ),
    ),
    aliases=("attention", "scaled_dot_product_attention", "self_attention"),
)

_MAPS = ("query", "key", "value", "output")


def multi_head(
    d_model: int,
    n_heads: int,
    weights: dict[str, Tensor],
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    split: str = "transposed",
    joined: str = "transposed",
    output: bool = True,
    read: str = "given",
    projected: tuple[str, str, str] = ("query", "key", "value"),
    **options: Any,
) -> Tensor:
    """Apply attention in `n_heads` subspaces, joined by the output projection: [B, Q, d_model]."""

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ weights[f"{name}.weight"].mT + weights[f"{name}.bias"]

    def heads(x: Tensor) -> Tensor:
        if split == "view":
            return x.reshape(len(x), n_heads, x.size(1), -1)
        if split == "alternating":
            return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
        return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    if read == "queries":
        keys = values = queries
    elif read == "keys":
        values = keys
    q, k, v = (heads(linear(x, name)) for x, name in zip((queries, keys, values), projected, strict=True))
    if read == "queries" and mask is not None and mask.size(-1) != k.size(2):
        mask = None
    z = attend(q, k, v, mask, **options)
    if joined == "transposed":
        z = z.transpose(1, 2)
    z = z.reshape(queries.shape)
    return linear(z, "output") if output else z


def maps(draw: Draw, d_model: int) -> dict[str, Tensor]:
    """Return random weights for the four linear maps of an attention."""
    weights = {f"{name}.weight": draw.normal(d_model, d_model) / d_model**0.5 * 1.4 for name in _MAPS}
    return weights | {f"{name}.bias": draw.normal(d_model) for name in _MAPS}


def _multi_head_cases(draw: Draw) -> list[Case]:
    def inputs(mask: str, reads: str = "itself") -> dict[str, Any]:
        H, D, B, Q, K = draw.sizes(5, high=7)
        K = Q if reads == "itself" else K
        queries, keys, values = draw.normal(B, Q, H * D), draw.normal(B, K, H * D), draw.normal(B, K, H * D)
        if reads == "itself":
            keys = values = queries
        elif reads == "another":
            values = keys
        hidden = {"none": None, "own": draw.mask(B, 1, Q, K), "padding": draw.mask(B, 1, 1, K)}[mask]
        sizes = {"d_model": H * D, "n_heads": H, "weights": maps(draw, H * D)}
        return {**sizes, "queries": queries, "keys": keys, "values": values, "mask": hidden}

    return [
        Case("where a sentence reads itself", inputs("none")),
        Case("with padding hidden", inputs("padding")),
        Case("with a mask of each query's own", inputs("own")),
        Case("where keys and values differ", inputs("none", "keys and values")),
        Case("where another sentence is read", inputs("padding", "another")),
    ]


def _call(attempt: Any, inputs: dict[str, Any]) -> Any:
    d_model, n_heads, weights, *read = inputs.values()
    return instantiate(attempt, (d_model, n_heads), weights)(*read)


MULTI_HEAD = Exercise(
    "MultiHeadAttention",
    "multi_head.py",
    multi_head,
    _multi_head_cases,
    (
        KnownMistake(
            {"joined": "not"},
            "The heads are joined without transposing back: [B, H, Q, D] is reshaped as it lies, which mixes tokens. "
            "First `transpose(1, 2)`, then flatten the last two dimensions.",
        ),
        KnownMistake(
            {"split": "view"},
            "The heads are cut without transposing: viewing [B, Q, d_model] as [B, H, Q, D] mixes tokens. View it as "
            "[B, Q, H, D], then `transpose(1, 2)`.",
        ),
        KnownMistake(
            {"split": "view", "joined": "not"},
            "The heads are cut and joined by reshaping alone, which mixes tokens: view as [B, Q, H, D] and "
            "`transpose(1, 2)`; to join, transpose back first.",
        ),
        KnownMistake(
            {"split": "alternating"},
            "A head takes every H-th number of a vector; it takes D neighbours: [B, Q, H, D], not [B, Q, D, H].",
        ),
        KnownMistake({"output": False}, "The output projection is missing: joining the heads ends with `self.output`."),
        KnownMistake(
            {"read": "queries"},
            "Keys and values are made of the queries, so cross-attention reads its own sentence: use `keys` and "
            "`values`.",
        ),
        KnownMistake({"read": "keys"}, "The values are made of `keys`; they are projections of `values`."),
        KnownMistake(
            {"projected": ("query", "query", "query")},
            "All three go through `self.query`; keys and values have layers of their own.",
        ),
        KnownMistake(
            {"projected": ("query", "query", "value")}, "The keys go through `self.query`; their layer is `self.key`."
        ),
        KnownMistake(
            {"projected": ("query", "key", "key")}, "The values go through `self.key`; their layer is `self.value`."
        ),
        KnownMistake({"projected": ("key", "query", "value")}, "`self.query` and `self.key` have changed places."),
        *_SOFTMAX,
        *_scales("d_head"),
        KnownMistake(
            {"masking": "dropped"},
            "The mask hides nothing: pass it on, `attend(q, k, v, mask)`. If you do, the attention drops it: "
            "`masked_fill` returns a new tensor.",
        ),
        *_MASKING,
    ),
    implementation="MultiHeadAttention in transformer/attention.py",
    styles=_STYLES,
    slips=(
        (
            r"shape '.*' is invalid for input of size|Expected size for first two|size of tensor a",
            "Keys and values are reshaped by the length of the queries, a size is left out, or one is a constant: a "
            "sentence may read another of a different length, and d_model and the number of heads are any, so take "
            "each tensor's own sizes, `self.n_heads`, or -1.",
        ),
        _ONE_OUTPUT,
    ),
    aliases=("MultiheadAttention", "MultiHead", "MultiHeadAttentionBlock", "MultiHeadSelfAttention"),
    call=_call,
)
