"""Corpora in files, plain or gzipped, read line by line: two parallel texts, tables, lines of JSON."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from transformer.data.pairs import MAX_CHARACTERS, Corpus, Pair, Rejected


def lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends; bytes that are no UTF-8 become surrogates.

    Raises ValueError naming the file when it cannot be read or is a damaged gzip file.
    """
    number = 0
    try:
        with open(path, "rb") as plain:
            start = plain.read(2)
            plain.seek(0)
            if start in (b"\xff\xfe", b"\xfe\xff"):
                raise ValueError(f"{path} is UTF-16 text; save it as UTF-8.")
            file = gzip.GzipFile(fileobj=plain) if start == b"\x1f\x8b" else plain
            for number, line in enumerate(file, 1):
                start_mark = b"\xef\xbb\xbf" if number == 1 else b""
                yield line.removeprefix(start_mark).rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{path} is a damaged gzip file after line {number:,}; fetch it again.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


class TextPair(Corpus):
    """Two files whose lines translate each other. Lines that only one of them has are reported."""

    def __init__(self, source_path: str | Path, target_path: str | Path, max_characters: int = MAX_CHARACTERS) -> None:
        super().__init__(f"{source_path}, {target_path}", max_characters)
        self.source_path, self.target_path = source_path, target_path

    def rows(self) -> Iterator[Pair | Rejected]:
        both = zip_longest(lines(self.source_path), lines(self.target_path))
        for number, (source, target) in enumerate(both, 1):
            if source is None or target is None:
                yield Rejected(number, "no counterpart")
            else:
                yield Pair(number, source, target)


class Table(Corpus):
    """Two columns of a CSV file, or of a tab-separated one if its name has ".tsv".

    Columns are numbers from 0, or names that the first row has; with numbers the first row is a pair too.
    Quotes mean something in CSV only: tab-separated sentences are full of quotes that never close.
    """

    def __init__(
        self,
        path: str | Path,
        source: int | str = 0,
        target: int | str = 1,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        super().__init__(str(path), max_characters)
        self.path, self.source, self.target = path, source, target

    def rows(self) -> Iterator[Pair | Rejected]:
        texts = (line + "\n" for line in lines(self.path))
        if str(self.path).endswith((".tsv", ".tsv.gz")):
            reader = csv.reader(texts, delimiter="\t", quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(texts)
        header = next(reader, []) if isinstance(self.source, str) or isinstance(self.target, str) else []
        source, target = self._column(self.source, header), self._column(self.target, header)
        while True:
            line = reader.line_num + 1  # where the row begins; a quoted cell may go over several lines
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                yield Rejected(line, "bad row")
                continue
            if max(source, target) < len(row):
                yield Pair(line, row[source], row[target])
            else:
                yield Rejected(line, "missing column" if row else "empty line")

    def _column(self, column: int | str, header: list[str]) -> int:
        if isinstance(column, int):
            return column
        if column not in header:
            raise ValueError(f"{self.path} has no column {column!r}; it has {', '.join(header) or 'none'}.")
        return header.index(column)


class JsonLines(Corpus):
    """One JSON object a line with the texts under two keys, there or inside its "translation"."""

    def __init__(
        self,
        path: str | Path,
        source: str = "source",
        target: str = "target",
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        super().__init__(str(path), max_characters)
        self.path, self.source, self.target = path, source, target

    def rows(self) -> Iterator[Pair | Rejected]:
        for number, line in enumerate(lines(self.path), 1):
            if not line.strip():
                yield Rejected(number, "empty line")
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                yield Rejected(number, "bad JSON")
                continue
            yield pair_of(number, record, self.source, self.target)


def pair_of(line: int, record: Any, source: str, target: str) -> Pair | Rejected:
    """The pair in a record such as {"en": ..., "hi": ...} or {"translation": {"en": ..., "hi": ...}}."""
    texts = texts_of(record)
    if source not in texts or target not in texts:
        return Rejected(line, "missing column")
    if not (isinstance(texts[source], str) and isinstance(texts[target], str)):
        return Rejected(line, "not text")
    return Pair(line, texts[source], texts[target])


def texts_of(record: Any) -> Mapping[str, Any]:
    """The mapping that holds a record's texts."""
    if not isinstance(record, Mapping):
        return {}
    inside = record.get("translation")
    return inside if isinstance(inside, Mapping) else record
