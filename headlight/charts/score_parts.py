"""A score in pairs of writers as a matrix: who wrote the query in rows, who wrote the key in columns, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from headlight.charts.colours import hexadecimal, lookup, shades, theme_named
from headlight.charts.document import Drawing, text_element, text_of
from headlight.charts.labels import FONT_SIZE, cut, widest
from headlight.formatting import signed

SMALL = 12
MARGIN = 1.25  # of the room for labels: an image on a page is drawn with the fonts of the system
_ROW, _GAP, _SUMS, _KEY = 16, 6, 44, 22  # heights of a row and of the colour key, and the room of the sums at the right
_text = partial(text_element, size=SMALL)


def pair_matrix(
    pairs: np.ndarray, rows: Sequence[str], columns: Sequence[str], theme: str, across: int, says: str
) -> Drawing:
    """Return the matrix of `pairs` [P, R] with the sum of each row, its largest pair framed, `across` pixels wide.

    Colours end at the largest absolute value. `says` describes the picture in a sentence.
    """
    look, (count, n_columns) = theme_named(theme), pairs.shape
    largest = float(np.abs(pairs).max()) or 1.0
    left = min(across * 0.36, _room(rows)) + _GAP
    top = min(120.0, _room(columns)) + _GAP
    sums = _SUMS if across > 350 else 0
    cell = (across - left - sums) / n_columns
    table, parts = lookup(look.diverging), []
    for column, label in enumerate(columns):
        x = left + cell * (column + 0.5) + SMALL / 3
        name = text_of(cut(label, (top - _GAP) / MARGIN * FONT_SIZE / SMALL))
        parts.append(
            f'<text transform="translate({x:.1f} {top - _GAP:.1f}) rotate(-90)" font-size="{SMALL}" '
            f'fill="{look.muted}">{name}</text>'
        )
    by_row = pairs.sum(1)
    widest_sum = float(np.abs(by_row).max()) or 1.0
    for row, label in enumerate(rows):
        y = top + _ROW * row
        name = cut(label, (left - _GAP) / MARGIN * FONT_SIZE / SMALL)
        parts.append(_text((left - _GAP, y + _ROW - 4), name, look.text, anchor="end"))
        for column in range(n_columns):
            rgb = table[shades(np.array(pairs[row, column] / largest), -1.0, 1.0)]
            parts.append(_rectangle(left + cell * column + 0.5, y + 0.5, cell - 1, _ROW - 1, hexadecimal(rgb)))
        if sums:
            end = table[-1 if by_row[row] >= 0 else 0]
            length = max(1.0, (sums - _GAP) * abs(float(by_row[row])) / widest_sum)
            parts.append(_rectangle(across - sums + _GAP, y + 4, length, _ROW - 8, hexadecimal(end)))
    i, j = np.unravel_index(np.abs(pairs).argmax(), pairs.shape)
    parts.append(
        f'<rect x="{left + cell * j - 1:.1f}" y="{top + _ROW * i - 1:.1f}" width="{cell + 2:.1f}" height="{_ROW + 2}" '
        f'rx="3" fill="none" stroke="{look.text}" stroke-width="2"/>'
    )
    bottom = top + _ROW * count + _GAP
    parts += _colour_key(left, bottom, min(90.0, across - left - 120), largest, theme)
    return Drawing(parts, (across, bottom + _KEY), says)


def _colour_key(left: float, top: float, across: float, largest: float, theme: str) -> list[str]:
    """Return the colours from the least to the most, with their numbers."""
    look = theme_named(theme)
    table, steps = lookup(look.diverging), 30
    parts = [_text((left, top + 13), signed(-largest), look.muted)]
    start = left + 44
    for step in range(steps):
        colour = hexadecimal(table[round(step * (len(table) - 1) / (steps - 1))])
        parts.append(_rectangle(start + across * step / steps, top + 5, across / steps + 0.5, 8, colour, 0))
    return [*parts, _text((start + across + 8, top + 13), signed(largest, plus=True), look.muted)]


def _room(labels: Sequence[str]) -> float:
    return (widest(labels) * SMALL / FONT_SIZE + 1) * MARGIN  # a pixel more, so that rounding cuts no label


def _rectangle(x: float, y: float, across: float, down: float, colour: str, rounded: float = 1.5) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{across:.1f}" height="{down:.1f}" rx="{rounded}" fill="{colour}"/>'
    )
