"""Compare two sentences: the weights of a head where tokens correspond, and the words that were changed.

Shapes: Q rows and K columns of a sentence, P and L pairs of corresponding rows and columns.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"  # which number the occurrences of a token
Pairs = list[tuple[int, int]]
Op = Literal["equal", "delete", "insert"]


def corresponding(first: Sequence[str], second: Sequence[str]) -> Pairs:
    """Return the positions of corresponding tokens in two sentences, in order.

    Equal tokens correspond, in the alignment of `difflib`; so do the tokens of a passage that was replaced by another
    of the same length, one by one: "wide" and "tired".
    """
    left, right = ([label.rstrip(_SUBSCRIPTS) or label for label in labels] for labels in (first, second))
    return pair_equal(left, right)


def pair_equal(left: Sequence[Hashable], right: Sequence[Hashable]) -> Pairs:
    """Return the positions of tokens that correspond as in `corresponding`, for tokens without numbers."""
    pairs: Pairs = []
    for tag, start, end, other_start, other_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal" or (tag == "replace" and end - start == other_end - other_start):
            pairs += zip(range(start, end), range(other_start, other_end), strict=True)
    return pairs


class WeightChange(NamedTuple):
    """The weight of one row and column in the first sentence and in the second."""

    row: str
    column: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.second - self.first


@dataclass(frozen=True)
class PatternPair:
    """Two patterns at the rows and columns whose tokens correspond."""

    rows: list[str]  # [P]
    columns: list[str]  # [L]
    first: np.ndarray  # [P, L]
    second: np.ndarray  # [P, L]
    masked: np.ndarray  # [P, L], True where either hides the cell
    left_out: tuple[list[str], list[str]]  # the rows and columns of each sentence without a counterpart

    @property
    def difference(self) -> np.ndarray:
        """The second pattern minus the first, [P, L]; no row is rescaled."""
        return self.second - self.first

    def largest(self, count: int) -> list[WeightChange]:
        """Return the `count` cells that differ most, the largest difference first."""
        sizes = np.where(self.masked, -1.0, np.abs(self.difference)).ravel()
        order = np.argsort(-sizes, kind="stable")[:count]
        cells = [np.unravel_index(at, self.masked.shape) for at in order if sizes[at] >= 0]
        return [
            WeightChange(self.rows[r], self.columns[c], float(self.first[r, c]), float(self.second[r, c]))
            for r, c in cells
        ]


class LabelledPattern(NamedTuple):
    """The pattern of one sentence with its labels."""

    cells: np.ndarray  # [Q, K]
    rows: Sequence[str]
    columns: Sequence[str]
    masked: np.ndarray  # [Q, K]


def compared(first: LabelledPattern, second: LabelledPattern) -> PatternPair:
    """Return the weights of two sentences at the rows and columns whose tokens correspond."""
    rows, columns = corresponding(first.rows, second.rows), corresponding(first.columns, second.columns)
    cells = [np.ix_([pair[side] for pair in rows], [pair[side] for pair in columns]) for side in range(2)]
    without = tuple(
        list(dict.fromkeys(_unpaired(pattern.rows, rows, side) + _unpaired(pattern.columns, columns, side)))
        for side, pattern in enumerate((first, second))
    )
    return PatternPair(
        [_joined(first.rows[a], second.rows[b]) for a, b in rows],
        [_joined(first.columns[a], second.columns[b]) for a, b in columns],
        first.cells[cells[0]],
        second.cells[cells[1]],
        first.masked[cells[0]] | second.masked[cells[1]],
        without,  # type: ignore[arg-type]
    )


def _joined(left: str, right: str) -> str:
    same = left.rstrip(_SUBSCRIPTS) == right.rstrip(_SUBSCRIPTS)
    return left if same else f"{left} / {right}"


def _unpaired(labels: Sequence[str], pairs: Pairs, side: int) -> list[str]:
    paired = {pair[side] for pair in pairs}
    return [label for at, label in enumerate(labels) if at not in paired]


def text_diff(before: str, after: str) -> list[tuple[Op, str]]:
    """Return the pieces of text in the order in which they are shown, what was deleted before what replaced it.

    Joined, the pieces that aren't deleted are `after`, with each run of white space as one space.
    """
    old, new = _words(before), _words(after)
    pieces: list[tuple[Op, str]] = []
    for op, i, j, k, m in SequenceMatcher(None, _bare(old), _bare(new), autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(("equal", "".join(new[k:m])))
            continue
        if i < j:
            pieces.append(("delete", "".join(old[i:j])))
        if k < m:
            pieces.append(("insert", "".join(new[k:m])))
    return pieces


def _words(text: str) -> list[str]:
    """Return words and single marks of punctuation, each with a space before it where the text has one or begins."""
    words = []
    for chunk in text.split():
        runs = ["".join(run) for _, run in groupby(chunk, _alike)]
        words += [" " + runs[0], *runs[1:]]
    return words


def _bare(words: list[str]) -> list[str]:
    return [word.lstrip() for word in words]


def _alike(character: str) -> bool | str:
    """Return a key for grouping: True for all characters of words, else the punctuation mark or symbol itself."""
    return character if unicodedata.category(character)[0] in "PS" else True
