"""Text from a stranger's vocabulary or sentence must not run when somebody opens the file in a spreadsheet."""

import csv
import io
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from headlight.formatting import FORMULA_SIGNS, csv_text

ROOT = Path(__file__).resolve().parents[3]
SKIPPED = ' \t\r\n\u00a0\u3000\u2028\ufeff\u200b\0"'


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def naive(text: str, separator: str) -> list[str]:
    """The cells as a spreadsheet sees them that separates them by another sign and so takes no quote for one, with
    nothing that it may skip before them."""
    return [cell.lstrip(SKIPPED) for cell in re.split(rf"[\r\n{separator}]", text)]


@pytest.mark.parametrize("sign", FORMULA_SIGNS)
@pytest.mark.parametrize("skipped", ["", " ", "\u00a0", "\t", "\r\n", "\ufeff", '"', "\u3000 "])
def test_a_text_that_could_be_a_formula_is_quoted(skipped: str, sign: str) -> None:
    formula = f'{sign}HYPERLINK("http://127.0.0.1/?"&A1,"see")'
    assert read(csv_text([[skipped + formula]])) == [[f"{skipped}'{formula}"]]


@pytest.mark.parametrize("separator", [";", "\t", "; ", ';"', "\n"])
def test_so_is_one_where_another_separator_is_expected(separator: str) -> None:
    text = f"x{separator}=1+1{separator}y"
    assert read(csv_text([["", text]])) == [["", f"x{separator}'=1+1{separator}y"]]
    assert not [cell for cell in naive(csv_text([["", text]]), separator[0]) if cell.startswith(tuple(FORMULA_SIGNS))]


def test_every_text_is_in_quotation_marks_and_no_number_is() -> None:
    """A separator within a text is then one nowhere."""
    assert csv_text([["a", "x;y", -0.5, 3, None, "-"]]) == '"a","x;y",-0.5,3,"","\'-"\r\n'


def test_numbers_stay_numbers_and_other_texts_as_they_are() -> None:
    row = ["a-b", "x=1", "", "'", 'he said "no"', "−1", "a, -b", -0.02, 1e-09, -7, 0.1 + 0.2, float("-inf"), None]
    due = ["a-b", "x=1", "", "'", 'he said "no"', "−1", "a, -b", "-0.02", "1e-09", "-7", "0.30000000000000004"]
    assert read(csv_text([row])) == [[*due, "-inf", ""]]


STRANGE = some.text(some.sampled_from([*FORMULA_SIGNS, *SKIPPED, *";,'a1("]))


@given(some.lists(some.lists(some.one_of(some.text(), STRANGE, some.floats(allow_nan=False)), min_size=2), min_size=1))
def test_no_cell_begins_a_formula_and_nothing_is_lost(rows: list[list[str | float]]) -> None:
    written = csv_text(rows)
    for row, cells in zip(rows, read(written), strict=True):
        for given_cell, cell in zip(row, cells, strict=True):
            if isinstance(given_cell, str):
                assert not cell.lstrip(SKIPPED).startswith(tuple(FORMULA_SIGNS))
                assert cell.replace("'", "") == given_cell.replace("'", "")
            else:
                assert float(cell) == given_cell
    texts = csv_text([cell for cell in row if isinstance(cell, str)] for row in rows)
    for separator in ";\t":
        assert not [cell for cell in naive(texts, separator) if cell.startswith(tuple(FORMULA_SIGNS))]


def test_nothing_else_writes_csv() -> None:
    """Neither other packages of ours nor Streamlit's own button above tables, which does not quote formulas."""
    writes = re.compile(r"csv\.writer|DictWriter|\.to_csv|write_csv")
    files = [
        path
        for room in ("app.py", "pages", "ui", "headlight", "transformer", "tools")
        for path in python_files(ROOT / room)
    ]
    assert [path.name for path in files if writes.search(path.read_text("utf-8"))] == ["formatting.py"]
    assert tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["client"]["disableDataExport"] is True


def python_files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]
