"""Corpora in files, plain or gzipped, read line by line: two parallel texts, tables, lines of JSON.

A folder of tables has the splits of a corpus (en-fr.train.tsv.gz), or one table.
"""

import csv
import gzip
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from headlight import folders
from headlight.corpora.pairs import Corpus, Pair, Rejected
from transformer.files import open_regular
from transformer.quoting import quoted, short

MAX_CELL_CHARACTERS = 200  # of a cell in a column that is neither source nor target
MAX_LINE_BYTES = 1_000_000  # no sentence is that long, and a file without line ends may be larger than memory
MAX_SKIPPED_BYTES = 100_000_000  # the longest line whose rest is skipped
MAX_COMPRESSION_RATIO = 200  # unpacked size / packed size; ordinary text reaches 10, repetitive text a few tens
HARMLESS_BYTES = 2**26  # unpacked text up to this size may have any ratio


def lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, or of standard input for "-", without their ends.

    Bytes that are not UTF-8 become surrogates. A line that is longer than any sentence is cut. Lines that are appended
    while the file is read may be left out.

    Raises ValueError naming the file where it cannot be read, is a damaged gzip file, or is not text: a pipe or a
    device, a line without an end, or a gzip file that unpacks to many times as much as text does.
    """
    if path == "-":
        yield from _decoded(sys.stdin.buffer, "Standard input")
        return
    file_name, number = short(path), 0
    try:
        with open_regular(path) as plain:
            start = plain.read(2)
            plain.seek(0)
            if start in (b"\xff\xfe", b"\xfe\xff"):
                raise ValueError(f"{file_name} is UTF-16 text; save it as UTF-8.")
            size, packed = os.fstat(plain.fileno()).st_size, start == b"\x1f\x8b"
            file = gzip.GzipFile(fileobj=plain) if packed else plain
            max_bytes = max(MAX_COMPRESSION_RATIO * size, HARMLESS_BYTES) if packed else math.inf
            for line in _decoded(file, file_name, max_bytes):
                number += 1
                yield line
                if not packed and plain.tell() >= size:  # a file that grows as fast as it is read would never end
                    return
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{file_name} is a damaged gzip file after line {number:,}; download it again.") from None
    except OSError as error:
        raise ValueError(f"{file_name} cannot be read: {error.strerror}.") from None


def _decoded(file: gzip.GzipFile | BinaryIO, file_name: str, max_bytes: float = math.inf) -> Iterator[str]:
    """Yield the lines of a file as text. Raises ValueError for a line that cannot be text."""
    number = 0
    try:
        for number, line in enumerate(_bounded_lines(file, max_bytes), 1):
            start_mark = b"\xef\xbb\xbf" if number == 1 else b""
            yield line.removeprefix(start_mark).rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    except _NotTextError as reason:
        raise ValueError(f"{file_name}, line {number + 1:,} {reason}.") from None


class _NotTextError(Exception):
    """An error for a line that cannot be text; the message says why."""


def _bounded_lines(file: gzip.GzipFile | BinaryIO, max_bytes: float) -> Iterator[bytes]:
    """Yield each line, or its first MAX_LINE_BYTES. Raises _NotTextError for a line that cannot be text."""
    read = 0
    while line := file.readline(MAX_LINE_BYTES):
        rest, length = line, len(line)
        while not rest.endswith(b"\n") and (rest := file.readline(MAX_LINE_BYTES)):
            length += len(rest)
            if length > MAX_SKIPPED_BYTES:
                raise _NotTextError(f"has over {MAX_SKIPPED_BYTES:,} bytes, more than any line of text")
        read += length
        if read > max_bytes:
            raise _NotTextError(f"ends after {max_bytes:,} bytes, more than text compresses into so small a file")
        yield line


class TextPair(Corpus):
    """Two files whose lines are translations of each other. Surplus lines of the longer file are reported."""

    def __init__(self, source_path: str | Path, target_path: str | Path) -> None:
        super().__init__(f"{short(source_path)}, {short(target_path)}")
        self.source_path, self.target_path = source_path, target_path

    def rows(self) -> Iterator[Pair | Rejected]:
        line_pairs = zip_longest(lines(self.source_path), lines(self.target_path))
        for number, (source, target) in enumerate(line_pairs, 1):
            if source is None or target is None:
                yield Rejected(number, "no counterpart")
            else:
                yield Pair(number, source, target)


class TableCorpus(Corpus):
    """Two columns of a CSV file, or of a tab-separated one if its name contains ".tsv".

    Columns are numbers from 0, or names in the first row; with numbers the first row is a pair too. Quotes have a
    meaning in CSV only: tab-separated sentences are full of quotes that never close.
    """

    def __init__(self, path: str | Path, source: int | str = 0, target: int | str = 1) -> None:
        super().__init__(short(path))
        self.path, self.source, self.target = path, source, target

    def rows(self) -> Iterator[Pair | Rejected]:
        rows = _rows(self.path)
        named = isinstance(self.source, str) or isinstance(self.target, str)
        header = _header(rows) if named else []
        source, target = self._column(self.source, header), self._column(self.target, header)
        for line, row in rows:
            if row is None:
                yield Rejected(line, "bad row")
            elif max(source, target) < len(row):
                yield Pair(line, row[source], row[target])
            else:
                yield Rejected(line, "missing column" if row else "empty line")

    def cells(self, column: str) -> Iterator[tuple[int, str]]:
        """Yield the line of each row and its cell, cut to MAX_CELL_CHARACTERS; rows without that cell are left out.

        `column` is a name in the first row, or its number from 0 where source and target are numbers. Raises ValueError
        where there is no such column.
        """
        rows, named = _rows(self.path), int(column) if column.isdecimal() else column
        numbered = isinstance(self.source, int) and isinstance(self.target, int)
        if numbered and isinstance(named, str):
            raise ValueError(
                f"The first line of {short(self.path)} is read as a pair, so its columns have no names; name those of "
                f"the source and the target as well: {short(self.path)}:SOURCE:TARGET."
            )
        index = named if numbered and isinstance(named, int) else self._column(column, _header(rows))
        widest = 0
        for line, row in rows:
            widest = max(widest, len(row or ()))
            if row and index < len(row):
                yield line, _decodable(row[index])
        if numbered and index >= widest:
            raise ValueError(f"{short(self.path)} has no column {index}; it has {widest}, counted from 0.")

    def _column(self, column: int | str, header: list[str]) -> int:
        if isinstance(column, int):
            return column
        if column not in header:
            names = short(", ".join(header)) or "none"
            raise ValueError(f"{short(self.path)} has no column {quoted(column)}; it has {names}.")
        return header.index(column)


def _table(path: str | Path) -> Any:
    """Return the csv reader of a file."""
    texts = (line + "\n" for line in lines(path))
    if str(path).endswith((".tsv", ".tsv.gz")):
        return csv.reader(texts, delimiter="\t", quoting=csv.QUOTE_NONE)
    return csv.reader(texts)


def _rows(path: str | Path) -> Iterator[tuple[int, list[str] | None]]:
    """Yield each row of a table with the line where it begins; None for one that the csv module cannot read."""
    reader = _table(path)
    while True:
        line = reader.line_num + 1  # a quoted cell may go over several lines
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row = None
        yield line, row


def _header(rows: Iterator[tuple[int, list[str] | None]]) -> list[str]:
    return next(rows, (1, None))[1] or []


def columns(path: str | Path) -> list[str]:
    """Return the names of the columns: the cells of the first row, or the keys of the first JSON object.

    Raises ValueError where the first row cannot be read.
    """
    try:
        if str(path).endswith((".jsonl", ".jsonl.gz")):
            return [key for key, text in texts_of(json.loads(next(lines(path), ""))).items() if isinstance(text, str)]
        return list(next(_table(path), []))
    except (csv.Error, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{short(path)}, line 1 has no columns: {str(error)[:100]}.") from None


class JsonLines(Corpus):
    """A JSON object per line, with the texts under two keys, at the top level or inside "translation".

    `origin` is the key, if any, under which a record names the part of a mixture that the pair comes from.
    """

    def __init__(
        self,
        path: str | Path,
        source: str = "source",
        target: str = "target",
        origin: str | None = None,
    ) -> None:
        super().__init__(short(path))
        self.path, self.source, self.target, self.origin = path, source, target, origin

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
            if self.origin is not None and isinstance(pair, Pair):
                pair = pair._replace(origin=str(record.get(self.origin, "")))
            yield pair

    def cells(self, key: str) -> Iterator[tuple[int, str]]:
        """Yield each line and its value under a key, cut to MAX_CELL_CHARACTERS: a text, a number, true or false.

        Raises ValueError where no line has the key.
        """
        present = False
        for number, line in enumerate(lines(self.path), 1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            value = next((of[key] for of in (texts_of(record), record) if isinstance(of, Mapping) and key in of), None)
            present = present or value is not None
            if isinstance(value, str):
                yield number, _decodable(value)
            elif isinstance(value, int | float):
                yield number, json.dumps(value)[:MAX_CELL_CHARACTERS]
        if not present:
            raise ValueError(f"No line of {short(self.path)} has the key {quoted(key)}.")


def _decodable(cell: str) -> str:
    return cell[:MAX_CELL_CHARACTERS].encode("utf-8", "replace").decode("utf-8")


def pair_of(line: int, record: Any, source: str, target: str) -> Pair | Rejected:
    """Return the pair in a record such as {"en": ..., "hi": ...} or {"translation": {"en": ..., "hi": ...}}."""
    texts = texts_of(record)
    if source not in texts or target not in texts:
        return Rejected(line, "missing column")
    if not (isinstance(texts[source], str) and isinstance(texts[target], str)):
        return Rejected(line, "not text")
    return Pair(line, texts[source], texts[target])


def texts_of(record: Any) -> Mapping[str, Any]:
    """Return the mapping that holds a record's texts."""
    if not isinstance(record, Mapping):
        return {}
    inside = record.get("translation")
    return inside if isinstance(inside, Mapping) else record


def open_table(folder: Path, pattern: str, languages: tuple[str, str], name: str) -> TableCorpus:
    """Open the table whose file name is `pattern` with the two languages, such as "{}-{}.train.tsv", in either order.

    Lines with the same source are alternative references. Raises ValueError where the folder has no such table.
    """
    for forwards, names in ((True, languages), (False, languages[::-1])):
        for ending in ("", ".gz"):
            if (path := folder / f"{pattern.format(*names)}{ending}").is_file():
                table = TableCorpus(path, int(not forwards), int(forwards))
                table.name = f"{name} {'-'.join(languages)}"
                return table
    raise ValueError(f"There is no {quoted(pattern.format(*languages))}, plain or gzipped, in {short(folder)}.")


def language_pairs(folder: str | Path) -> list[tuple[str, str]]:
    """Return the languages of the tables to train on in `folder`, each pair once."""
    matches = (re.fullmatch(r"(\w+)-(\w+)\.train\.tsv(\.gz)?", path.name) for path in Path(folder).glob("*.train.tsv*"))
    return sorted({(match[1], match[2]) for match in matches if match})


def tatoeba_folder() -> Path:
    """Return the folder of Tatoeba's sentences: HEADLIGHT_TATOEBA, or data/tatoeba."""
    return Path(os.environ.get("HEADLIGHT_TATOEBA") or folders.data() / "tatoeba")


def everyday_folder() -> Path:
    """Return the folder of other everyday text, a table for each source: HEADLIGHT_EVERYDAY, or data/everyday."""
    return Path(os.environ.get("HEADLIGHT_EVERYDAY") or folders.data() / "everyday")
