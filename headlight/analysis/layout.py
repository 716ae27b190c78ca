"""Lay out the tokens of a trace: as words or subwords, with or without special tokens.

L layers, H heads, Q queries (rows), K keys (columns).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from headlight.analysis.combine import hide_columns, merge, merge_labels, merge_masked
from headlight.analysis.description import Text, describe
from headlight.analysis.measures import MEASURES, HeadValues, is_punctuation, measure
from transformer.tokenizers import SPACE, number_duplicates
from transformer.trace import Kind, LayerPatterns, Patterns, Tokens, Trace


@dataclass(frozen=True)
class Layout:
    """The tokens at the rows and columns, after merging words and hiding special tokens.

    `keys` are all columns, hidden ones included: descriptions of a head cover all of them.
    """

    kind: Kind
    rows: list[str]
    columns: list[str]
    reads: list[str] | None
    masked: np.ndarray  # [Q, K]
    special: np.ndarray  # [columns before hiding]
    row_groups: list[list[int]]
    column_groups: list[list[int]]
    hidden: np.ndarray  # [columns before hiding], True where a column is left out
    hidden_rows: np.ndarray  # [rows before hiding], the same
    keys: list[str]  # [columns before hiding]
    masked_whole: np.ndarray  # [rows, columns before hiding]
    prompt_lengths: tuple[int, int] | None  # the rows and columns of the prompt; None where there is none

    @overload
    def apply(self, patterns: np.ndarray) -> np.ndarray: ...
    @overload
    def apply(self, patterns: Patterns) -> Patterns: ...
    def apply(self, patterns: Patterns) -> Patterns:
        """Apply the layout to patterns: [..., tokens, tokens] -> [..., Q, K]."""
        if isinstance(patterns, LayerPatterns):
            return patterns.map(self.apply)
        return hide_columns(self._rows_shown(patterns), self.hidden).pattern

    def _rows_shown(self, patterns: np.ndarray) -> np.ndarray:
        merged = self.merged(patterns)
        return merged[..., ~self.hidden_rows, :] if self.hidden_rows.any() else merged

    @overload
    def merged(self, patterns: np.ndarray) -> np.ndarray: ...
    @overload
    def merged(self, patterns: Patterns) -> Patterns: ...
    def merged(self, patterns: Patterns) -> Patterns:
        if isinstance(patterns, LayerPatterns):
            return patterns.map(self.merged)
        if len(self.row_groups) == patterns.shape[-2] and len(self.column_groups) == patterns.shape[-1]:
            return patterns
        return merge(patterns, self.row_groups, self.column_groups)

    def share_hidden(self, pattern: np.ndarray) -> float:
        """Return how much of the weight of the rows that are shown lies on columns that are left out, 0 to 1."""
        return hide_columns(self._rows_shown(pattern), self.hidden).overall


def lay_out(trace: Trace, kind: Kind, words: bool, hide: bool) -> Layout:
    """Return the rows and columns of a kind of attention; `words` merges subwords, `hide` leaves special tokens out."""
    row_tokens, column_tokens = trace.row_tokens(kind), trace.column_tokens(kind)
    row_groups = row_tokens.words if words else _singly(len(row_tokens))
    column_groups = column_tokens.words if words else _singly(len(column_tokens))
    special, special_rows = _special(column_tokens, column_groups), _special(row_tokens, row_groups)
    hide = hide and not special.all() and not special_rows.all()  # else nothing would be left
    hidden, hidden_rows = special & hide, special_rows & hide
    columns = number_duplicates(_joined(column_tokens.labels, column_groups, words))
    masked = merge_masked(trace.masked(kind), row_groups, column_groups).masked
    rows = number_duplicates(_joined(row_tokens.labels, row_groups, words))
    reads = _joined(trace.reads.labels, row_groups, words) if kind != "encoder" else None
    if reads is not None and hide:  # the row of the first word reads [SOS], and stays
        gone = _special(trace.reads, row_groups)
        reads = ["" if special else label for label, special in zip(reads, gone, strict=True)]
    return Layout(
        kind,
        _visible_labels(rows, hidden_rows),
        _visible_labels(columns, hidden),
        None if reads is None else _visible_labels(reads, hidden_rows),
        masked[~hidden_rows][:, ~hidden],
        special,
        row_groups,
        column_groups,
        hidden,
        hidden_rows,
        columns,
        masked,
        _prompt_lengths(trace, kind, (row_groups, hidden_rows), (column_groups, hidden)),
    )


def _prompt_lengths(
    trace: Trace, kind: Kind, *axes: tuple[Sequence[Sequence[int]], np.ndarray]
) -> tuple[int, int] | None:
    """Return how many visible rows and columns belong to the prompt; None where nothing was written after a prompt."""
    if kind == "encoder":
        return None
    first_written = (trace.given - 1, trace.given if kind == "decoder" else 0)  # rows are labelled by what they write
    visible = [[max(group) for group, gone in zip(groups, hidden, strict=True) if not gone] for groups, hidden in axes]
    rows, columns = (sum(last < first for last in axis) for axis, first in zip(visible, first_written, strict=True))
    return (rows, columns) if 0 < rows < len(visible[0]) else None


def _special(tokens: Tokens, groups: Sequence[Sequence[int]]) -> np.ndarray:
    return np.array([any(tokens.special[i] for i in group) for group in groups])


def _visible_labels(labels: Sequence[str], hidden: np.ndarray) -> list[str]:
    return [label for label, gone in zip(labels, hidden, strict=True) if not gone]


def _singly(count: int) -> list[list[int]]:
    return [[i] for i in range(count)]


def _joined(labels: Sequence[str], groups: Sequence[Sequence[int]], words: bool) -> list[str]:
    """Return one label per group; whole words lose the sign for the space before them."""
    joined = merge_labels(labels, groups)
    return [label.strip(SPACE) or label for label in joined] if words else joined


def measure_trace(trace: Trace, kind: Kind, words: bool = False) -> HeadValues:
    """Return every measure of the heads of a kind in a sentence by its name, [L, H] each; `words` merges subwords."""
    return measures(trace, lay_out(trace, kind, words, hide=False))


def measures(trace: Trace, layout: Layout) -> HeadValues:
    """Return every measure over the tokens or words of a layout; hidden columns are counted too."""
    points = np.array([is_punctuation(label) for label in trace.column_tokens(layout.kind).labels])
    punctuation = np.array([points[group].all() for group in layout.column_groups]) & ~layout.special
    return measure(layout.merged(trace.pattern(layout.kind)), layout.masked_whole, layout.special, punctuation)


def descriptions(trace: Trace, layout: Layout, values: HeadValues) -> list[list[Text]]:
    """Describe what each head does, [L][H]; `values` are its `measures`. Hidden tokens are counted too."""
    patterns = layout.merged(trace.pattern(layout.kind))
    return describe(patterns, values, layout.masked_whole, layout.special, layout.keys, layout.kind)


def sharpest(trace: Trace, kind: Kind) -> tuple[int, int]:
    """Return the head to open first: the one with the narrowest attention to tokens that are not special."""
    return narrowest(measure_trace(trace, kind), trace.masked(kind))


def narrowest(values: HeadValues, masked: np.ndarray) -> tuple[int, int]:
    """Return the (layer, head), from 0, whose pattern is the narrowest and lies least on special tokens.

    `values` are the measures of each head under the mask `masked` [Q, K].
    """
    bits = values["entropy"]
    score = np.nan_to_num(bits / MEASURES["entropy"].largest(bits, masked) + values["special"], nan=np.inf)
    layer, head = np.unravel_index(int(score.argmin()), score.shape)
    return int(layer), int(head)
