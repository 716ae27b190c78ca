"""Which tokens of two sentences belong together, so that parts of one run can be put into the other."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def partners(source: Sequence[int], corrupted: Sequence[int]) -> list[tuple[int, int]]:
    """Places in both that belong together: each with its own where both are equally long.

    Else the tokens that both have, in the longest runs in their order; and between two such runs those that were
    exchanged one for one. What was put in or left out has no partner.
    """
    if len(source) == len(corrupted):
        return [(i, i) for i in range(len(source))]
    pairs = []
    for _, i, j, k, m in SequenceMatcher(None, source, corrupted, autojunk=False).get_opcodes():
        if j - i == m - k:
            pairs += list(zip(range(i, j), range(k, m), strict=True))
    return pairs
