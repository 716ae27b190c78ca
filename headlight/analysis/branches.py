"""Two ways in which a sentence was written, token by token: what they share and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class Branching(NamedTuple):
    """`shared` tokens begin both. Each `..._differs` is True at the tokens that the other does not have there."""

    shared: int
    before_differs: list[bool]
    after_differs: list[bool]


def branching(before: Sequence[int], after: Sequence[int]) -> Branching:
    """Where two sentences, given as ids, part and differ; what comes again after a difference is not one."""
    shared = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(map(len, (before, after)))
    )
    one, other = [True] * len(before), [True] * len(after)
    one[:shared], other[:shared] = [False] * shared, [False] * shared
    matcher = SequenceMatcher(None, before[shared:], after[shared:], autojunk=False)
    for i, k, length in matcher.get_matching_blocks():
        one[shared + i : shared + i + length] = [False] * length
        other[shared + k : shared + k + length] = [False] * length
    return Branching(shared, one, other)
