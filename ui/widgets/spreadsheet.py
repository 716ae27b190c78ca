"""CSV as this app writes it: exact numbers, and no text that a spreadsheet would run as a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

SIGNS = "=+-@＝＋－＠"  # what spreadsheets take for the beginning of a formula; the wide ones are East Asian
# Where a cell may begin: at the beginning of a text, or inside it where a spreadsheet has another separator
# than we do, as many countries' settings have it; and what may be skipped on the way to a formula.
BEGINNING = re.compile(rf'((?:^|[;\t\r\n])[\s"\0\u200b\ufeff]*)(?=[{SIGNS}])')

Cell = str | float | None


def csv_text(rows: Iterable[Iterable[Cell]]) -> str:
    """Rows as CSV, each ended by CR LF. A number stays one, with every digit; None is an empty cell."""
    out = io.StringIO()
    # Lines end as the format says: with another ending, the writer leaves a CR inside a text, where a row would end.
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> Cell:
    return BEGINNING.sub(r"\1'", value) if isinstance(value, str) else value
