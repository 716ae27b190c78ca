"""Exercises: the masks of attention, True where a query may look.

Shapes: B sentences, K keys, T target tokens.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Draw, Exercise, KnownMistake

_INVERTED_MASK = "The mask is inverted: yours is True at what to hide; it should be True where a query may look"


def padding_mask(
    ids: Tensor, pad_id: int, hides: str = "keys", inverted: bool = False, pad: str = "given", shape: str = "broadcast"
) -> Tensor:
    """Return True at the tokens that may be looked at: [B, 1, 1, K]."""
    padding = ids == (0 if pad == "zero" else pad_id)
    if hides == "nothing":
        padding = torch.zeros_like(padding)
    mask = padding if inverted else ~padding
    if hides == "queries":
        return mask[:, None, :, None]
    B, K = ids.shape
    broadcast = mask[:, None, None, :]
    return {"flat": mask, "three": mask[:, None, :], "square": broadcast.expand(B, 1, K, K)}.get(shape, broadcast)


def look_ahead_mask(
    length: int,
    diagonal: int = 0,
    way: str = "back",
    inverted: bool = False,
    dimensions: int = 2,
    added: bool = False,
) -> Tensor:
    """Return True where the key is not later than the query: [T, T]."""
    all_true = torch.ones(length, length, dtype=torch.bool)
    mask = all_true.tril(diagonal) if way == "back" else all_true.triu(diagonal)
    mask = ~mask if inverted else mask
    if added:
        mask = torch.zeros(length, length).masked_fill(~mask, -math.inf)
    return mask.reshape((1,) * (dimensions - 2) + mask.shape)


def target_mask(
    ids: Tensor,
    pad_id: int,
    padding: bool = True,
    look_ahead: bool = True,
    joined: str = "and",
    hides: str = "keys",
    inverted: bool = False,
    pad: str = "given",
    shape: str = "four",
) -> Tensor:
    """Return where the decoder may look in its own sentence, by both masks: [B, 1, T, T]."""
    length = ids.size(1)
    every = torch.ones(len(ids), 1, length, length, dtype=torch.bool)
    padded, before = padding_mask(ids, pad_id, hides, pad=pad) & every, look_ahead_mask(length) & every
    if not (padding and look_ahead):
        mask = padded if padding else before
    else:
        mask = padded & before if joined == "and" else padded | before
    mask = ~mask if inverted else mask
    return mask[:, 0] if shape == "three" else mask


def ids(draw: Draw, B: int, K: int, vocabulary: int, pad_id: int) -> Tensor:
    """Return sentences of random ids, 0 among them, padded at the end; one fills its row, and one does not."""
    rows = torch.full((B, K), pad_id)
    tokens = [id for id in range(vocabulary) if id != pad_id]
    for row, length in enumerate([K, *(draw.randint(2, K - 1) for _ in range(B - 1))]):
        rows[row, :length] = torch.tensor([draw.choice(tokens) for _ in range(length)])
        if pad_id != 0:
            rows[row, 1] = 0
    return rows


def _cases(draw: Draw) -> list[Case]:
    cases = []
    for _ in range(3):
        B, K = draw.sizes(2, low=3)
        pad_id = draw.randint(1, 8)
        cases.append(Case("", {"ids": ids(draw, B, K, 12, pad_id), "pad_id": pad_id}))
    return cases


_ZERO_AS_PADDING = KnownMistake(
    {"pad": "zero"}, "0 is taken for the padding; it is `pad_id`, and here 0 is a token: compare with `pad_id`."
)

PADDING_MASK = Exercise(
    "padding_mask",
    "masks.py",
    padding_mask,
    _cases,
    (
        KnownMistake({"inverted": True}, f"{_INVERTED_MASK}: `ids != pad_id`."),
        KnownMistake({"hides": "nothing"}, "Nothing is hidden: compare the ids with `pad_id`."),
        _ZERO_AS_PADDING,
        KnownMistake(
            {"hides": "queries"},
            "The padding is hidden as queries, [B, 1, K, 1]; nobody may look at it as a key, so it belongs in the "
            "last dimension: [B, 1, 1, K].",
        ),
        KnownMistake(
            {"shape": "flat"},
            "The shape is [B, K], which fits no scores [B, H, Q, K]: give heads and queries a dimension each, "
            "`mask[:, None, None, :]`.",
        ),
        KnownMistake(
            {"shape": "three"},
            "The shape is [B, 1, K], which lacks a dimension: heads and queries need one each, [B, 1, 1, K].",
        ),
        KnownMistake(
            {"shape": "square"},
            "The mask is written out for each query, [B, 1, K, K]; one row serves them all: [B, 1, 1, K].",
        ),
    ),
    implementation="visible_keys in transformer/masks.py",
    aliases=("make_pad_mask", "create_padding_mask", "make_padding_mask", "pad_mask", "make_src_mask"),
)


def _extra_dimensions(dimensions: int) -> KnownMistake:
    shape = f"[{'1, ' * (dimensions - 2)}length, length]"
    return KnownMistake(
        {"dimensions": dimensions},
        f"The shape is {shape}; return [length, length] alone, without `unsqueeze`: it is the same for every sentence "
        "and head, and broadcasts.",
    )


LOOK_AHEAD_MASK = Exercise(
    "look_ahead_mask",
    "masks.py",
    look_ahead_mask,
    lambda draw: [Case("", {"length": length}) for length in (1, *draw.sizes(3))],
    (
        KnownMistake({"inverted": True}, f"{_INVERTED_MASK}: at itself and before, `torch.tril`."),
        KnownMistake(
            {"way": "forward"}, "A query may look at itself and later tokens, not at earlier ones: `tril`, not `triu`."
        ),
        KnownMistake({"diagonal": -1}, "A token may not look at itself, and the first at nothing: keep the diagonal."),
        KnownMistake(
            {"diagonal": 1}, "A token may look at the next one, the very one that it should predict: diagonal 0."
        ),
        KnownMistake(
            {"added": True},
            "This mask is made to be added to the scores, 0 and -inf; here a mask says where a query may look: "
            "`torch.tril` of ones, as bool.",
        ),
        _extra_dimensions(3),
        _extra_dimensions(4),
    ),
    implementation="look_ahead_mask in transformer/masks.py",
    aliases=("causal_mask", "subsequent_mask", "create_look_ahead_mask", "generate_square_subsequent_mask"),
)
TARGET_MASK = Exercise(
    "target_mask",
    "masks.py",
    target_mask,
    _cases,
    (
        KnownMistake({"inverted": True}, f"{_INVERTED_MASK}."),
        KnownMistake(
            {"padding": False}, "Padding is not hidden: compare the ids with `pad_id`, and join both masks with `&`."
        ),
        KnownMistake({"look_ahead": False}, "Later tokens are not hidden; combine both masks with `&`."),
        KnownMistake({"joined": "or"}, "A key is seen where either mask allows it, `|`; both have to: `&`."),
        _ZERO_AS_PADDING,
        KnownMistake(
            {"hides": "queries"},
            "The padding is hidden as queries, [B, 1, T, 1], so that a query at a padding sees nothing and others see "
            "the padding; hide it as a key, [B, 1, 1, T], before you join the masks.",
        ),
        KnownMistake({"shape": "three"}, "The shape is [B, T, T]; heads need a dimension, too: [B, 1, T, T]."),
    ),
    implementation="target_mask in transformer/masks.py",
    aliases=("make_trg_mask", "make_tgt_mask", "create_target_mask"),
)
