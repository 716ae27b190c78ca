"""Tables in files: Parquet, JSON lines or CSV, written a window at a time, and resumed where a run was stopped.

While a table is computed, each window is a file of its own in the folder "NAME.part" beside it. The name of that file
holds a digest of the settings and of the window's sentences. So a run that is started again computes only what is
missing, parts of another model or corpus are never reused, and the table does not depend on where a run was stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from headlight.corpora.pairs import Rejected
from headlight.formatting import csv_text
from headlight.machine import lock, unlock
from headlight.tables.columns import Columns, ColumnType
from headlight.tables.sentences import Row
from transformer.extras import require_package
from transformer.files import read_json, require_folder, write_json
from transformer.quoting import short

SUFFIXES = (".parquet", ".jsonl", ".csv")
MAX_LISTED_REJECTIONS = 100  # rejected lines that are listed with their reasons; the rest are only counted
ROW_GROUP_ROWS = 100_000  # of a Parquet row group, which is written and read as a whole
SIGNIFICANT_DIGITS = 7  # significant digits of a number in JSON and CSV, those of float32
_FACTS_SUFFIX = ".json"


@dataclass
class Summary:
    """The content of a table, and the lines that were left out."""

    sentences: int = 0
    rows: int = 0
    wrong: int = 0
    first_wrong: list[Rejected] = field(default_factory=list)  # MAX_LISTED_REJECTIONS at most
    resumed: int = 0  # sentences that an earlier run had computed

    def reject(self, wrong: Rejected) -> None:
        self.wrong += 1
        if len(self.first_wrong) < MAX_LISTED_REJECTIONS:
            self.first_wrong.append(wrong)

    def add(self, other: Summary) -> None:
        self.sentences, self.rows = self.sentences + other.sentences, self.rows + other.rows
        self.resumed, self.wrong = self.resumed + other.resumed, self.wrong + other.wrong
        self.first_wrong += other.first_wrong[: MAX_LISTED_REJECTIONS - len(self.first_wrong)]


@dataclass(frozen=True)
class Table:
    """A table to write: its file, its columns, and the settings that its numbers depend on."""

    out: Path
    types: Mapping[str, ColumnType]
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        require_suffix(self.out)
        require_folder(self.out)
        if os.path.lexists(self.out):
            raise ValueError(f"{short(self.out)} exists already; choose another name, or delete it first.")

    @property
    def folder(self) -> Path:
        return self.out.with_name(f"{self.out.name}.part")

    def digest(self, window: Sequence[Row]) -> str:
        """Return the digest of the settings, the columns and a window's sentences, which names the window's file."""
        about = [dict(self.settings), dict(self.types), window]
        return hashlib.sha256(json.dumps(about, ensure_ascii=True).encode()).hexdigest()[:16]


def require_suffix(path: Path) -> None:
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{short(path)} ends in no format of a table; give a name in {', '.join(SUFFIXES)}.")


def write_table(
    table: Table,
    windows: Iterable[list[Row]],
    compute: Callable[[list[Row]], Iterable[tuple[int, Columns] | Rejected]],
    skip: Callable[[int], None] = lambda count: None,
) -> Summary:
    """Write the table, and return what it holds.

    `compute` yields (line, columns) for each row of a window, in order. `skip` is called with the length of each window
    that an earlier run computed. Raises ValueError where no line could be computed, and where another process is
    writing the same table; MissingPackageError for Parquet without pyarrow.
    """
    if table.out.suffix == ".parquet":
        require_package("pyarrow", "A table in Parquet", "tables")
    whole, parts = Summary(), list[str]()
    with _locked(table.folder):
        for number, window in enumerate(windows):
            name = f"{number:06d}-{table.digest(window)}"
            part = _finished(table.folder / name)
            if part is not None:
                skip(len(window))
            whole.add(part or _write_part(table, name, compute(window)))
            parts.append(name)
        if not whole.sentences:
            shutil.rmtree(table.folder)
            raise ValueError(_nothing(whole))
        temporary = table.folder / f"table{table.out.suffix}"
        _join([table.folder / name for name in parts], temporary, table)
        os.replace(temporary, table.out)
        shutil.rmtree(table.folder)
    return whole


def _nothing(whole: Summary) -> str:
    if not whole.first_wrong:
        return "There is no sentence in the corpus, so there is no table; give a file with one sentence a line."
    first = whole.first_wrong[0]
    return f"None of the {whole.wrong:,} lines could be computed. Line {first.line:,}: {first.reason}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Create the folder of the parts, and lock it; the system releases the lock when the process ends."""
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "ab") as file:
        if not lock(file):
            raise ValueError(f"Another process is writing into {short(folder)}; wait for it, or stop it.")
        try:
            yield
        finally:
            unlock(file)


def _finished(part: Path) -> Summary | None:
    """Return the summary of a part that an earlier run finished; None for a part that is missing or incomplete."""
    try:
        facts = read_json(part.with_name(part.name + _FACTS_SUFFIX))
        wrong = [Rejected(int(line), str(reason)) for line, reason in facts["first_wrong"]]
        if part.stat().st_size != facts["bytes"]:
            return None
        return Summary(facts["sentences"], facts["rows"], facts["wrong"], wrong, facts["sentences"])
    except (ValueError, OSError, KeyError, TypeError):
        return None


def _write_part(table: Table, name: str, computed: Iterable[tuple[int, Columns] | Rejected]) -> Summary:
    """Write the part of a window. Its facts are written last, so a part that has them is complete."""
    part, summary = table.folder / name, Summary()
    temporary = part.with_name(f"{name}.unfinished")

    def tables() -> Iterator[Columns]:
        for result in computed:
            if isinstance(result, Rejected):
                summary.reject(result)
                continue
            line, columns = result
            count = len(next(iter(columns.values())))
            summary.sentences, summary.rows = summary.sentences + 1, summary.rows + count
            yield {"line": np.full(count, line), **columns}

    _write(tables(), temporary, table)
    size = temporary.stat().st_size
    os.replace(temporary, part)
    facts = {key: value for key, value in vars(summary).items() if key != "resumed"}
    write_json(part.with_name(name + _FACTS_SUFFIX), facts | {"bytes": size})
    return summary


def _write(tables: Iterable[Columns], path: Path, table: Table) -> None:
    """Write columns into a file of the table's format, without a header."""
    if table.out.suffix == ".parquet":
        _write_row_groups(_arrow_tables(tables, table), path, table)
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        for columns in tables:
            rows = zip(*(_plain(columns[name], kind) for name, kind in table.types.items()), strict=True)
            if table.out.suffix == ".csv":
                file.write(csv_text(rows))
                continue
            for row in rows:
                file.write(json.dumps(dict(zip(table.types, row, strict=True)), ensure_ascii=False) + "\n")


def _join(parts: Iterable[Path], path: Path, table: Table) -> None:
    """Join files that `_write` wrote, under a header where the format has one."""
    if table.out.suffix == ".parquet":
        _write_row_groups(_row_groups(parts), path, table)
        return
    with open(path, "wb") as file:
        if table.out.suffix == ".csv":
            file.write(csv_text([list(table.types)]).encode())
        for part in parts:
            with open(part, "rb") as opened:
                shutil.copyfileobj(opened, file)


def _schema(table: Table) -> Any:
    import pyarrow

    arrow = {"integer": pyarrow.int32(), "number": pyarrow.float32(), "text": pyarrow.string()}
    return pyarrow.schema([(name, arrow[kind]) for name, kind in table.types.items()])


def _arrow_tables(tables: Iterable[Columns], table: Table) -> Iterator[Any]:
    """Yield columns as pyarrow has them; NaN becomes null."""
    import pyarrow

    schema = _schema(table)
    for columns in tables:
        arrays = [pyarrow.array(columns[field.name], field.type, from_pandas=True) for field in schema]
        yield pyarrow.table(arrays, schema=schema)


def _row_groups(parts: Iterable[Path]) -> Iterator[Any]:
    from pyarrow.parquet import ParquetFile

    for part in parts:
        with ParquetFile(part) as file:
            for number in range(file.num_row_groups):
                yield file.read_row_group(number)


def _write_row_groups(tables: Iterable[Any], path: Path, table: Table) -> None:
    """Write row groups of ROW_GROUP_ROWS or more, since the writer keeps metadata of each group until the end."""
    import pyarrow
    from pyarrow.parquet import ParquetWriter

    waiting, rows = list[Any](), 0
    with ParquetWriter(path, _schema(table), compression="zstd") as writer:
        for arrow_table in tables:
            waiting.append(arrow_table)
            rows += len(arrow_table)
            if rows >= ROW_GROUP_ROWS:
                writer.write_table(pyarrow.concat_tables(waiting).combine_chunks())
                waiting, rows = [], 0
        if waiting:
            writer.write_table(pyarrow.concat_tables(waiting).combine_chunks())


def _plain(values: np.ndarray, kind: ColumnType) -> list[Any]:
    """Return a column as Python values; NaN becomes None."""
    if kind != "number":
        return values.tolist()
    return [None if value != value else float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in values.tolist()]
