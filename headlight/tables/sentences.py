"""The sentences of a corpus, in windows: consecutive rows that are computed together and written in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headlight.corpora.files import JsonLines, TableCorpus, lines
from headlight.corpora.pairs import Pair, Rejected, is_unicode
from transformer.quoting import quoted

MAX_CHARACTERS = 20_000  # of a sentence; 1,024 tokens have about 5,000
WINDOW_SENTENCES = 256
# The cost of a window is the sum of its sentences' squared lengths in characters, since patterns grow quadratically.
# The limit is that of 256 sentences of 125 characters.
MAX_WINDOW_COST = 4_000_000

Row = Pair | Rejected


def read_rows(path: str) -> Iterator[Row]:
    """Yield the sentences of a file: one a line, or a table (.tsv, .csv) or .jsonl with a source and a target.

    `path` may be "-", standard input, with one sentence a line, and a file may be gzipped. A target of "" stands for
    the model's own translation. Empty lines are left out; a line that is no sentence is a `Rejected` with the reason.
    Raises ValueError where the file cannot be read at all.
    """
    name = path.removesuffix(".gz")
    if name.endswith((".tsv", ".csv")):
        rows: Iterable[Row] = TableCorpus(path).rows()
    elif name.endswith(".jsonl"):
        rows = JsonLines(path).rows()
    else:
        rows = (Pair(number, line, "") for number, line in enumerate(lines(path), 1))
    for row in rows:
        if isinstance(row, Pair) and not row.source.strip():
            row = Rejected(row.line, "empty source" if row.target.strip() else "empty line")
        if row != Rejected(row.line, "empty line"):
            yield _checked(row)


def number_rows(sentences: Iterable[str | tuple[str, str]]) -> Iterator[Row]:
    """Yield sentences, or pairs of a sentence and its translation, as rows that count from 1."""
    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, str):
            row: Row = Pair(number, sentence.rstrip("\r\n"), "")  # a line of a file, too
        elif isinstance(sentence, tuple | list) and [type(text) for text in sentence] == [str, str]:
            row = Pair(number, *sentence)
        else:
            row = Rejected(number, f"{quoted(sentence)} is neither a str nor a pair of them")
        yield _checked(row)


def _checked(row: Row) -> Row:
    if isinstance(row, Rejected):
        return row
    if max(len(row.source), len(row.target)) > MAX_CHARACTERS:
        return Rejected(row.line, f"over {MAX_CHARACTERS:,} characters, more than a sentence has")
    if not (is_unicode(row.source) and is_unicode(row.target)):
        return Rejected(row.line, "not UTF-8 text")
    return row


def windows(rows: Iterable[Row], cost_factor: int = 1) -> Iterator[list[Row]]:
    """Yield windows of up to 256 consecutive rows whose costs, times `cost_factor`, reach MAX_WINDOW_COST.

    The windows depend on the rows alone, so a resumed run computes the same ones.
    """
    window: list[Row] = []
    cost = 0
    for row in rows:
        window.append(row)
        cost += max(len(row.source), len(row.target)) ** 2 if isinstance(row, Pair) else 0
        if len(window) >= WINDOW_SENTENCES or cost * cost_factor >= MAX_WINDOW_COST:
            yield window
            window, cost = [], 0
    if window:
        yield window
