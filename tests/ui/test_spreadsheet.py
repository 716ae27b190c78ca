"""Text from a stranger's vocabulary or sentence must not run when somebody opens the file in a spreadsheet."""

import csv
import io
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from ui.spreadsheet import FORMULA, csv_text

ROOT = Path(__file__).resolve().parents[2]


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("start", FORMULA)
def test_a_text_that_could_be_a_formula_is_quoted(start: str) -> None:
    text = f'{start}HYPERLINK("http://127.0.0.1/?"&A1,"see")'
    assert read(csv_text([[text]])) == [["'" + text]]


def test_numbers_stay_numbers_and_other_texts_as_they_are() -> None:
    row = ["a-b", "x=1", "", "'", 'he said "no"', "−1", -0.02, 1e-09, -7, 0.1 + 0.2, float("-inf"), None]
    assert read(csv_text([row])) == [
        ["a-b", "x=1", "", "'", 'he said "no"', "−1", "-0.02", "1e-09", "-7", "0.30000000000000004", "-inf", ""]
    ]


@given(some.lists(some.lists(some.one_of(some.text(), some.floats(allow_nan=False)), min_size=2), min_size=1))
def test_no_cell_begins_a_formula_and_nothing_is_lost(rows: list[list[str | float]]) -> None:
    rows = [[cell.replace("\x00", "") if isinstance(cell, str) else cell for cell in row] for row in rows]
    for row, cells in zip(rows, read(csv_text(rows)), strict=True):
        for given_cell, cell in zip(row, cells, strict=True):
            if isinstance(given_cell, str):
                assert not cell.startswith(FORMULA) and cell in (given_cell, "'" + given_cell)
            else:
                assert float(cell) == given_cell


def test_nothing_else_writes_csv() -> None:
    """Neither another room of ours nor Streamlit's own button over each table, which quotes no formula."""
    writes = re.compile(r"csv\.writer|DictWriter|\.to_csv|write_csv")
    files = [
        path for room in ("app.py", "app_pages", "ui", "transformer", "tools") for path in python_files(ROOT / room)
    ]
    assert [path.name for path in files if writes.search(path.read_text("utf-8"))] == ["spreadsheet.py"]
    assert tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["client"]["disableDataExport"] is True


def python_files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]
