"""Exercises: scaled dot-product attention, and its heads.

Shapes: B sentences, H heads, Q queries, K keys, D = d_head.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake, built, random


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    scale: str = "head",
    axis: int = -1,
    masking: str = "before",
    weighs: str = "values",
    lowest: float = -math.inf,
) -> Tensor:
    """softmax(q kᵀ / √D) v: [B, H, Q, D]."""
    divisor = {"head": q.size(-1) ** 0.5, "none": 1.0, "model": (q.size(1) * q.size(-1)) ** 0.5, "whole": q.size(-1)}
    scores = q @ k.mT / divisor[scale]
    if mask is not None and masking not in ("dropped", "after"):
        hidden = mask if masking == "inverted" else ~mask
        scores = scores.masked_fill(hidden, 0.0 if masking == "zero" else lowest)
    weights = scores if weighs == "scores" else scores.softmax(axis)
    if mask is not None and masking == "after":
        weights = weights * mask
    return weights @ v


_MASKING = (
    KnownMistake(
        {"masking": "dropped"},
        "The mask hides nothing. If you call `masked_fill`, its result is dropped: it returns a new tensor, so write "
        "`scores = scores.masked_fill(...)`, or `masked_fill_` with its underscore.",
    ),
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
)
_STYLES: tuple[dict[str, Any], ...] = ({}, {"lowest": -1e9})  # over nothing but these the softmax is no NaN
_AXIS = KnownMistake(
    {"axis": -2},
    "Your weights sum to 1 over the queries; they should over the keys: softmax over the last dimension, `dim=-1`.",
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
    )


def some_hidden(*shape: int) -> Tensor:
    """A mask by chance that leaves every query its first key, and hides its last."""
    mask = random(*shape, seed=9) > 0
    mask[..., 0], mask[..., -1] = True, False
    return mask


def _cases() -> list[Case]:
    q, k, v = random(2, 3, 4, 8, seed=1), random(2, 3, 5, 8, seed=2), random(2, 3, 5, 8, seed=3)
    square = {"q": q, "k": random(2, 3, 4, 8, seed=4), "v": random(2, 3, 4, 8, seed=5)}
    return [
        Case("without a mask", {**square, "mask": None}),
        Case("with more keys than queries", {"q": q, "k": k, "v": v, "mask": None}),
        Case("with a mask of each query's own", {"q": q, "k": k, "v": v, "mask": some_hidden(2, 1, 4, 5)}),
        Case("with padding hidden", {"q": q, "k": k, "v": v, "mask": some_hidden(2, 1, 1, 5)}),
        # The weights themselves come out.
        Case("with the identity as v", {"q": q, "k": k, "v": torch.eye(5).repeat(2, 3, 1, 1), "mask": None}),
    ]


ATTEND = Exercise(
    "attend",
    "attend.py",
    attend,
    _cases,
    (
        _AXIS,
        *_scales("D"),
        *_MASKING,
        KnownMistake({"weighs": "scores"}, "There is no softmax: the values are weighed with the scores themselves."),
    ),
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
)


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
    projected: str = "own",
    **options: Any,
) -> Tensor:
    """Attention in `n_heads` subspaces at once, joined again by the output projection: [B, Q, d_model]."""

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
    names = ("query",) * 3 if projected == "query" else ("query", "key", "value")
    q, k, v = (heads(linear(x, name)) for x, name in zip((queries, keys, values), names, strict=True))
    if read == "queries" and mask is not None and mask.size(-1) != k.size(2):
        mask = None
    z = attend(q, k, v, mask, **options)
    if joined == "transposed":
        z = z.transpose(1, 2)
    z = z.reshape(queries.shape)
    return linear(z, "output") if output else z


def _multi_head_cases() -> list[Case]:
    names = ("query", "key", "value", "output")
    weights = {f"{name}.weight": random(12, 12, seed=20 + i) * 0.4 for i, name in enumerate(names)}
    weights |= {f"{name}.bias": random(12, seed=30 + i) for i, name in enumerate(names)}
    same = {"d_model": 12, "n_heads": 3, "weights": weights}
    x, memory, other = (random(2, length, 12, seed=40 + length) for length in (4, 5, 6))
    return [
        Case("where a sentence reads itself", {**same, "queries": x, "keys": x, "values": x, "mask": None}),
        Case("with padding hidden", {**same, "queries": x, "keys": x, "values": x, "mask": some_hidden(2, 1, 1, 4)}),
        Case(
            "with a mask of each query's own",
            {**same, "queries": x, "keys": x, "values": x, "mask": some_hidden(2, 1, 4, 4)},
        ),
        Case(
            "where keys and values differ",
            {**same, "queries": x, "keys": memory, "values": other[:, :5], "mask": None},
        ),
        Case(
            "where another, longer sentence is read",
            {**same, "queries": x, "keys": memory, "values": memory, "mask": some_hidden(2, 1, 1, 5)},
        ),
    ]


def _call(written: Any, inputs: dict[str, Any]) -> Any:
    d_model, n_heads, weights, *read = inputs.values()
    return built(written, (d_model, n_heads), weights)(*read)


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
            {"projected": "query"}, "All three go through `self.query`; keys and values have layers of their own."
        ),
        _AXIS,
        *_scales("d_head"),
        *_MASKING,
    ),
    styles=_STYLES,
    slips=(
        (
            r"shape '.*' is invalid for input of size|Expected size for first two|size of tensor a",
            "Keys and values are reshaped by the length of the queries, or a size is left out: a sentence may read "
            "another of a different length, so take each tensor's own length, or -1.",
        ),
    ),
    call=_call,
)
