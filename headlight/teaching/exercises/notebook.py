"""The code cells of a Jupyter notebook as Python, without magics and outputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headlight.teaching.exercises.exercise import Unfit
from transformer.files import read_json
from transformer.quoting import quoted, short

NOTEBOOK_SUFFIX = ".ipynb"
_PYTHON_MAGICS = {"%%time", "%%timeit", "%%capture", "%%prun"}  # cell magics whose cell is Python
_MAGIC = re.compile(r"^(\s*)([%!].*|\?.*|[\w.]+\?{1,2}\s*)$")


def code_cells(path: Path) -> Iterator[tuple[str, str]]:
    """Yield for each code cell the name of a file that stands for it, "mine.ipynb, cell 3", and its text.

    Cells are counted as a notebook shows them, the first of code being cell 1. Raises Unfit where it is no notebook.
    """
    try:
        content = read_json(path)
    except ValueError as error:
        raise Unfit(f"{quoted(path.name)} is not a notebook that can be read: {short(str(error))}") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise Unfit(f"{quoted(path.name)} has no list of cells, as a notebook of Jupyter has: save it again there.")
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    for number, cell in enumerate(code, 1):
        yield f"{path}, cell {number}", without_magics(_text(cell.get("source")))


def _text(source: Any) -> str:
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def without_magics(text: str) -> str:
    """Return a cell's Python with a line for each of its lines, so that errors name the right one.

    A cell of another language (`%%bash`) becomes empty. A line counts as a magic only where Python reports a syntax
    error, since a line of a longer formula may begin with % too.
    """
    first, *other_lines = text.split("\n")
    if first.startswith("%%"):
        if first.split()[0] not in _PYTHON_MAGICS:
            return ""
        text = "\n".join(["", *other_lines])
    lines = text.split("\n")
    for _ in lines:
        at = _first_error("\n".join(lines))
        if at is None or not 0 < at <= len(lines) or not _MAGIC.match(lines[at - 1]):
            break
        lines[at - 1] = _MAGIC.sub(r"\1pass", lines[at - 1])
    return "\n".join(lines)


def _first_error(text: str) -> int | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, MemoryError, RecursionError):  # compiling the cell reports these
        return None
    return None
