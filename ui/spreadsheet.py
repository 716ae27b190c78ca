"""CSV as this app writes it: exact numbers, and no text that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

# What spreadsheets take for the beginning of a formula, or skip on their way to one; the wide signs are East Asian.
FORMULA = tuple("=+-@\t\r\n＝＋－＠")

Cell = str | float | None


def csv_text(rows: Iterable[Iterable[Cell]]) -> str:
    """Rows as CSV, each ended by CR LF. A number stays one, with every digit; None is an empty cell."""
    out = io.StringIO()
    # Lines end as the format says: with another ending, the writer leaves a CR inside a text, where a row would end.
    csv.writer(out).writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return repr(value)
