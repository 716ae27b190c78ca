"""Words and sentence patterns in tab-separated files, which can be corrected without knowing Python."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

IRREGULAR = Path(__file__).parent / "irregular"  # the irregular words of each language
T = TypeVar("T")
Option = TypeVar("Option", bound=str)


def read_table(path: Path, parse: Callable[[dict[str, str]], T]) -> tuple[T, ...]:
    """Return `parse({column: cell, ...})` for each row of a table, whose first row names the columns.

    Comments (#) and empty lines are skipped, and empty cells left out. Raises ValueError, naming the file and the line,
    for a row that lacks a cell or has too many, or that `parse` rejects.
    """
    columns: list[str] = []
    parsed: list[T] = []
    with path.open(encoding="utf-8-sig", newline="") as file:  # spreadsheets begin a file with a byte order mark
        rows = csv.reader(file, dialect="excel-tab")
        for row in rows:
            if not any(row) or row[0].startswith("#"):
                continue
            if not columns:
                columns = row
                continue
            line = f"{path.parent.name}/{path.name}, line {rows.line_num}"
            if len(row) > len(columns):
                raise ValueError(f"{line} has {len(row)} cells, but the table has {len(columns)} columns.")
            try:
                parsed.append(parse({column: cell for column, cell in zip(columns, row, strict=False) if cell}))
            except KeyError as error:
                raise ValueError(f"{line}: {error} is missing.") from error
            except ValueError as error:
                raise ValueError(f"{line}: {error}") from error
    return tuple(parsed)


def read_lists(path: Path, parse: Callable[[dict[str, str]], T]) -> dict[str, list[T]]:
    """Return the parsed rows of a table by what they have in the column "list"."""
    lists: dict[str, list[T]] = {}
    for name, entry in read_table(path, lambda row: (row["list"], parse(row))):
        lists.setdefault(name, []).append(entry)
    return lists


def one_of(cell: str, *options: Option) -> Option:
    """Return the option that a cell names. Raises ValueError where it names none."""
    for option in options:
        if cell == option:
            return option
    raise ValueError(f"{cell!r} is not one of {', '.join(options)}.")
