"""Exercises: what attention may look at. True is "may"."""

from __future__ import annotations

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import Case, Exercise, KnownMistake

PAD = 1
_IDS = torch.tensor([[2, 7, 5, 3, PAD], [2, 4, 3, PAD, PAD], [2, 9, 8, 6, 3]])
_INVERTED = "The mask is inverted: yours is True at what to hide; it should be True where a query may look"


def padding_mask(ids: Tensor, pad_id: int, hides: str = "keys", inverted: bool = False) -> Tensor:
    """True at the tokens that may be looked at: [B, 1, 1, K]."""
    mask = (ids == pad_id) if inverted else (ids != pad_id)
    return mask[:, None, None, :] if hides == "keys" else mask[:, None, :, None]


def look_ahead_mask(length: int, diagonal: int = 0, way: str = "back", inverted: bool = False) -> Tensor:
    """True where the key is not later than the query: [T, T]."""
    ones = torch.ones(length, length, dtype=torch.bool)
    mask = ones.tril(diagonal) if way == "back" else ones.triu(diagonal)
    return ~mask if inverted else mask


def target_mask(
    ids: Tensor, pad_id: int, padding: bool = True, look_ahead: bool = True, joined: str = "and", **options: bool
) -> Tensor:
    """Both: what the decoder may look at in its own sentence, [B, 1, T, T]."""
    length = ids.size(1)
    every = torch.ones(len(ids), 1, length, length, dtype=torch.bool)
    seen, before = padding_mask(ids, pad_id) & every, look_ahead_mask(length) & every
    if not (padding and look_ahead):
        mask = seen if padding else before
    else:
        mask = seen & before if joined == "and" else seen | before
    return ~mask if options.get("inverted") else mask


def _ids() -> list[Case]:
    return [Case("", {"ids": _IDS, "pad_id": PAD}), Case("", {"ids": _IDS[:, :4] + 3, "pad_id": PAD + 3})]


PADDING = Exercise(
    "padding_mask",
    "masks.py",
    padding_mask,
    _ids,
    (
        KnownMistake({"inverted": True}, f"{_INVERTED}: `ids != pad_id`."),
        KnownMistake(
            {"hides": "queries"},
            "The padding is hidden as queries, [B, 1, K, 1]; nobody may look at it as a key, so it belongs in the "
            "last dimension: [B, 1, 1, K].",
        ),
    ),
)
LOOK_AHEAD = Exercise(
    "look_ahead_mask",
    "masks.py",
    look_ahead_mask,
    lambda: [Case("", {"length": length}) for length in (1, 5)],
    (
        KnownMistake({"inverted": True}, f"{_INVERTED}: at itself and before, `torch.tril`."),
        KnownMistake(
            {"way": "forward"}, "A query may look at itself and later tokens, not at earlier ones: `tril`, not `triu`."
        ),
        KnownMistake({"diagonal": -1}, "A token may not look at itself, and the first at nothing: keep the diagonal."),
        KnownMistake(
            {"diagonal": 1}, "A token may look at the next one, the very one that it should predict: diagonal 0."
        ),
    ),
)
TARGET = Exercise(
    "target_mask",
    "masks.py",
    target_mask,
    _ids,
    (
        KnownMistake({"inverted": True}, f"{_INVERTED}."),
        KnownMistake({"padding": False}, "Padding is not hidden; combine both masks with `&`."),
        KnownMistake({"look_ahead": False}, "Later tokens are not hidden; combine both masks with `&`."),
        KnownMistake({"joined": "or"}, "A key is seen where either mask allows it, `|`; both have to: `&`."),
    ),
)
