"""The same sentence tokenized by two models, on common rows and columns.

Q queries are the rows, K keys the columns.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np

from headlight.analysis.combine import merge, merge_labels, merge_masked
from transformer.tokenizers import SPACE, SPECIALS, number_duplicates
from transformer.trace import Tokens, Trace

_UNKNOWN = {SPECIALS[1], "<unk>"}
SPECIAL_TOKENS_LABEL = "special tokens"  # the label of several special tokens

Groups = list[list[int]]


class NotComparable(ValueError):
    """The reason why two axes have no common labels."""


@dataclass(frozen=True)
class Axis:
    """Labels, and for each model the tokens under each label."""

    labels: list[str]
    groups: tuple[Groups, Groups]
    merged: bool  # tokens were joined to words


def axis(first: Tokens, second: Tokens) -> Axis:
    """Align two sentences token by token where both tokenize alike, else word by word.

    Special tokens share a column at the start or the end. Raises NotComparable where the words themselves differ.
    """
    both = (first, second)
    plain = [[i for i in range(len(tokens)) if not _special(tokens, i)] for tokens in both]
    pieces = [[tokens.pieces[i] for i in inside] for tokens, inside in zip(both, plain, strict=True)]
    merged = pieces[0] != pieces[1]
    groups = [plain_words(tokens) for tokens in both] if merged else [[[i] for i in inside] for inside in plain]
    texts = [spelled(tokens, words) for tokens, words in zip(both, groups, strict=True)]
    words = _agreed(texts[0], texts[1])
    labels = words if merged else [first.labels[i] for i in plain[0]]
    special = [[i for i in range(len(tokens)) if _special(tokens, i)] for tokens in both]
    if any(special):
        if not all(special):
            raise NotComparable("Only one of the two has special tokens here, such as the end of the sentence.")
        names = [" ".join(tokens.pieces[i] for i in places) for tokens, places in zip(both, special, strict=True)]
        label = names[0] if names[0] == names[1] and len(special[0]) == 1 else SPECIAL_TOKENS_LABEL
        at = 0 if special[0][0] == 0 and special[0][-1] < len(first) - 1 else len(labels)
        labels.insert(at, label)
        for group, inside in zip(groups, special, strict=True):
            group.insert(at, inside)
    return Axis(number_duplicates(labels), (groups[0], groups[1]), merged)


def _special(tokens: Tokens, i: int) -> bool:
    return tokens.special[i] and tokens.pieces[i] not in _UNKNOWN


def plain_words(tokens: Tokens) -> Groups:
    """Return the tokens of each word, without special tokens."""
    words = [[i for i in word if not _special(tokens, i)] for word in tokens.words]
    return [word for word in words if word]


def spelled(tokens: Tokens, groups: Groups) -> list[str]:
    """Return each group of tokens as a word, without the space before it."""
    both = zip(tokens.pieces, tokens.labels, strict=True)
    names = [SPECIALS[1] if piece in _UNKNOWN else label for piece, label in both]
    return [word.lstrip(SPACE) or word for word in merge_labels(names, groups)]


def _agreed(first: list[str], second: list[str]) -> list[str]:
    """Return the words that two tokenizations agree on; an unknown word agrees with any. Raises NotComparable."""
    for a, b in zip(first, second, strict=False):
        if SPECIALS[1] not in (a, b) and _folded(a) != _folded(b):
            raise NotComparable(f"Where one has “{a}”, the other has “{b}”.")
    if len(first) != len(second):
        longer = first if len(first) > len(second) else second
        raise NotComparable(
            f"One has {len(first)} words, the other {len(second)}: from “{longer[min(len(first), len(second))]}” on."
        )
    return [b if a == SPECIALS[1] else a for a, b in zip(first, second, strict=True)]


def _folded(word: str) -> str:
    """Return a word as vocabularies without capitals or with simpler characters spell it."""
    return unicodedata.normalize("NFKC", word).casefold()


@dataclass(frozen=True)
class AlignedHeads:
    """A head of each model on common rows and columns."""

    rows: list[str]
    columns: list[str]
    cells: tuple[np.ndarray, np.ndarray]  # [Q, K] each
    masked: np.ndarray  # [Q, K], in both
    merged: bool

    @property
    def difference(self) -> np.ndarray:
        """The second head minus the first, [Q, K]."""
        return self.cells[1] - self.cells[0]


def pair(traces: tuple[Trace, Trace], kind: str, heads: tuple[tuple[int, int], tuple[int, int]]) -> AlignedHeads:
    """Align two heads, given as layer and head from 0 of each trace.

    Raises NotComparable where rows or columns have no common labels.
    """
    first, second = traces
    try:
        columns = axis(first.column_tokens(kind), second.column_tokens(kind))
    except NotComparable as error:
        raise NotComparable(f"The columns do not line up. {error}") from None
    try:
        rows = axis(first.row_tokens(kind), second.row_tokens(kind))
    except NotComparable as error:
        raise NotComparable(f"The rows do not line up. {error}") from None
    cells, masks = [], []
    for n, (trace, (layer, head)) in enumerate(zip(traces, heads, strict=True)):
        around = rows.groups[n], columns.groups[n]
        cells.append(merge(trace.pattern(kind)[layer, head], *around))
        masks.append(merge_masked(trace.masked(kind), *around).masked)
    return AlignedHeads(
        rows.labels, columns.labels, (cells[0], cells[1]), masks[0] & masks[1], rows.merged or columns.merged
    )


@dataclass(frozen=True)
class SingleHead:
    """A head on its own words."""

    rows: list[str]
    columns: list[str]
    cells: np.ndarray  # [Q, K]
    masked: np.ndarray  # [Q, K]


def single_head(trace: Trace, kind: str, layer: int, head: int) -> SingleHead:
    """Return one head with subwords merged to words, for heads without common labels."""
    rows, columns = trace.row_tokens(kind), trace.column_tokens(kind)
    masked = merge_masked(trace.masked(kind), rows.words, columns.words).masked
    names = [number_duplicates(spelled(tokens, tokens.words)) for tokens in (rows, columns)]
    return SingleHead(names[0], names[1], merge(trace.pattern(kind)[layer, head], rows.words, columns.words), masked)


def column_change(pair: AlignedHeads) -> tuple[str, float]:
    """Return the column whose mean share over all rows changes most from the first head to the second, and the change.
    """
    change = pair.difference.mean(axis=0)
    at = int(np.abs(change).argmax())
    return pair.columns[at], float(change[at])
