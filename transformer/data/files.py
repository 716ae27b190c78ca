"""Corpora in files, plain or gzipped, read line by line: two parallel texts, tables, lines of JSON."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from transformer.data.pairs import MAX_CHARACTERS, Corpus, Pair, Rejected

LONGEST_LINE = 1_000_000  # bytes; no sentence is that long, and a file without line ends may be larger than memory


def lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 file without their ends; bytes that are no UTF-8 become surrogates.

    Of a line that is longer than any sentence, only the start is given.

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
            for number, line in enumerate(_starts(file), 1):
                start_mark = b"\xef\xbb\xbf" if number == 1 else b""
                yield line.removeprefix(start_mark).rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{path} is a damaged gzip file after line {number:,}; fetch it again.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None


def _starts(file: gzip.GzipFile | BinaryIO) -> Iterator[bytes]:
    """Each line, or its first LONGEST_LINE bytes."""
    while line := file.readline(LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and (rest := file.readline(LONGEST_LINE)):
            pass
        yield line


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
        reader = _table(self.path)
        header: list[str] = next(reader, []) if isinstance(self.source, str) or isinstance(self.target, str) else []
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


def _table(path: str | Path) -> Any:
    """The csv reader of a file."""
    texts = (line + "\n" for line in lines(path))
    if str(path).endswith((".tsv", ".tsv.gz")):
        return csv.reader(texts, delimiter="\t", quoting=csv.QUOTE_NONE)
    return csv.reader(texts)


def columns(path: str | Path) -> list[str]:
    """What the columns of a table may be called: the cells of its first row, or the keys of the first JSON object.

    Raises ValueError where the first row cannot be read.
    """
    try:
        if str(path).endswith((".jsonl", ".jsonl.gz")):
            return [key for key, text in texts_of(json.loads(next(lines(path), ""))).items() if isinstance(text, str)]
        return list(next(_table(path), []))
    except (csv.Error, ValueError, RecursionError) as error:
        raise ValueError(f"{path}, line 1 has no columns: {str(error)[:100]}.") from None


class JsonLines(Corpus):
    """One JSON object a line with the texts under two keys, there or inside its "translation".

    "origin" may name the corpus of a mixture that the pair comes from.
    """

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
            pair = pair_of(number, record, self.source, self.target)
            origin = record.get("origin") if isinstance(record, Mapping) else None
            yield pair._replace(origin=origin) if isinstance(pair, Pair) and isinstance(origin, str) else pair


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
