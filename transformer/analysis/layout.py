"""Where the tokens of a trace stand in a picture: words or subwords, with or without special tokens.

L layers, H heads, Q queries (rows), K keys (columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transformer.analysis.combine import hide_columns, merge, merge_masked
from transformer.analysis.heads import Measures, measure
from transformer.data.tokenizers import number_duplicates
from transformer.trace import Trace


@dataclass(frozen=True)
class Layout:
    """Which tokens stand at the rows and columns, after merging words and hiding special tokens."""

    kind: str
    rows: list[str]
    columns: list[str]
    reads: list[str] | None
    masked: np.ndarray  # [Q, K]
    special: np.ndarray  # [columns before hiding]
    row_groups: list[list[int]]
    column_groups: list[list[int]]
    hidden: np.ndarray  # [columns before hiding], True where a column is left out

    def apply(self, patterns: np.ndarray) -> np.ndarray:
        """[..., tokens, tokens] as [..., Q, K] of this layout."""
        return hide_columns(self.merged(patterns), self.hidden).pattern

    def merged(self, patterns: np.ndarray) -> np.ndarray:
        if len(self.row_groups) == patterns.shape[-2] and len(self.column_groups) == patterns.shape[-1]:
            return patterns
        return merge(patterns, self.row_groups, self.column_groups)

    def share_hidden(self, pattern: np.ndarray) -> float:
        """How much of a pattern's weight lies on columns that are left out, 0 to 1."""
        return hide_columns(self.merged(pattern), self.hidden).overall


def layout(trace: Trace, kind: str, words: bool, hide: bool) -> Layout:
    """The rows and columns of a kind of attention; `words` merges subwords, `hide` leaves special keys out."""
    row_tokens, column_tokens = trace.row_tokens(kind), trace.column_tokens(kind)
    row_groups = row_tokens.words if words else _singly(len(row_tokens))
    column_groups = column_tokens.words if words else _singly(len(column_tokens))
    special = np.array([any(column_tokens.special[i] for i in group) for group in column_groups])
    hidden = special & hide
    if hidden.all():  # a sentence of special tokens alone would leave no column
        hidden[:] = False
    columns = number_duplicates(_joined(column_tokens.labels, column_groups))
    masked = merge_masked(trace.masked(kind), row_groups, column_groups).masked
    return Layout(
        kind,
        number_duplicates(_joined(row_tokens.labels, row_groups)),
        [label for label, gone in zip(columns, hidden, strict=True) if not gone],
        None if kind == "encoder" else _joined(trace.reads.labels, row_groups),
        masked[:, ~hidden],
        special,
        row_groups,
        column_groups,
        hidden,
    )


def _singly(count: int) -> list[list[int]]:
    return [[i] for i in range(count)]


def _joined(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> list[str]:
    """A label a group; one that is alone keeps the dot that says that it continues a word."""
    return ["".join(labels[i].removeprefix("·" if len(group) > 1 else "") for i in group) for group in groups]


def measures(trace: Trace, place: Layout) -> Measures:
    """The numbers of every head, over words where words are shown; hidden columns are counted."""
    full = merge_masked(trace.masked(place.kind), place.row_groups, place.column_groups).masked
    return measure(place.merged(trace.pattern(place.kind)), full, place.special)


def sharpest(trace: Trace, kind: str) -> tuple[int, int]:
    """The head to open first: the one with the narrowest attention to other than special tokens."""
    return narrowest(measures(trace, layout(trace, kind, words=False, hide=False)))


def narrowest(measures: Measures) -> tuple[int, int]:
    """The (layer, head), from 0, whose pattern is the narrowest and lies least on special tokens."""
    score = np.nan_to_num(measures.entropy / max(measures.largest["entropy"], 1e-9) + measures.special, nan=np.inf)
    layer, head = np.unravel_index(int(score.argmin()), score.shape)
    return int(layer), int(head)
