"""A matrix of scores or weights as a table: numbers where there is room for them, colours otherwise."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.charts.colours import Theme, lookup, shades
from headlight.formatting import minus
from headlight.graphemes import isolated, sentence_dir
from ui.widgets.table import Cell, Html, table_html

MAX_NUMBERED_COLUMNS = 10  # columns that have room for their numbers
MAX_ROOMY_COLUMNS = 6  # columns whose signed numbers have room for two decimals
MAX_CELLS = 32  # rows or columns of a matrix
MINUS_INFINITY = "−∞"


@dataclass(frozen=True)
class MatrixAxes:
    """The axes that the matrices of a head share: the labels, the cells [Q, K] that may be hidden, a chosen row."""

    rows: Sequence[str]
    columns: Sequence[str]
    hidden: np.ndarray
    chosen: int | None = None


def matrix_html(
    title: str,
    values: np.ndarray,
    axes: MatrixAxes,
    theme: Theme,
    scale: tuple[float, float],
    *,
    hidden: str = "",
    digits: int = 2,
) -> str:
    """Return `values` [Q, K] in colours from the low to the high end of `scale`, which is signed or begins at 0.

    Hidden cells are hatched and say `hidden`, unless it is empty; the chosen row is outlined. Labels are escaped.
    """
    (low, high), rows, columns = scale, axes.rows, axes.columns
    numbered = len(columns) <= MAX_NUMBERED_COLUMNS
    colours = lookup(theme.signed if low < 0 else theme.sequential)[shades(values, low, max(high, low + 1e-9))]
    body = []
    for i, name in enumerate(rows):
        edge = "chosen" if i == axes.chosen else ""
        cells = [Cell(Html(f"<bdi>{html.escape(name)}</bdi>"), edge, title=name)]
        for j, column in enumerate(columns):
            off = bool(hidden) and bool(axes.hidden[i, j])
            text = hidden if off else minus(f"{values[i, j]:.{digits}f}")
            colour = colours[i, j]
            exact = hidden if off else minus(f"{values[i, j]:.4f}")
            about = f"{isolated(name)} looks at {isolated(column)}: {'hidden, ' * off}{exact}"
            ground = "" if off else f"background:rgb({','.join(map(str, colour))});color:{ink_on(colour)}"
            cells.append(Cell(text if numbered else "", f"{edge} {'masked' * off}".strip(), about, ground))
        body.append(cells)
    heads: list[str | Cell] = ["", *(Cell(name, title=name) for name in columns)]
    look = 'class="numbered"' if numbered else f'style="flex-basis:{60 + 18 * len(columns)}px"'
    return (
        f"<section {look}><div>{html.escape(title)}</div>"
        f"{table_html('matrix', body, heads, scrolls=title, direction=sentence_dir(columns))}</section>"
    )


def side_by_side(matrices: Sequence[str]) -> str:
    """Arrange several matrices side by side, or below each other where there is no room."""
    return f'<div class="matrices">{"".join(matrices)}</div>'


def window(count: int, chosen: int | None) -> slice:
    """Return the at most `MAX_CELLS` rows or columns that are drawn, the chosen one among them."""
    start = 0 if chosen is None else max(0, min(chosen - MAX_CELLS // 2, count - MAX_CELLS))
    return slice(start, min(start + MAX_CELLS, count))


def ink_on(colour: np.ndarray) -> str:
    """Return black or white, whichever has more contrast (WCAG 2.2's relative luminance)."""
    share = colour / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#000000" if luminance > 0.179 else "#ffffff"
