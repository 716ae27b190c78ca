"""Draw the parts of a score as a matrix, as SVG: writers of the query are rows, writers of the key columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from headlight.charts.colours import hexadecimal, lookup, shades, theme_named
from headlight.charts.document import WIDTH_FACTOR, Drawing, text_element, text_of
from headlight.charts.labels import cut, widest
from headlight.formatting import signed

LABEL_FONT_SIZE = 12
_ROW_HEIGHT, _GAP_PIXELS, _SUMS_WIDTH, _KEY_HEIGHT = 16, 6, 44, 22
_text = partial(text_element, size=LABEL_FONT_SIZE)


def pair_matrix(
    pairs: np.ndarray, rows: Sequence[str], columns: Sequence[str], theme: str, across: int, says: str
) -> Drawing:
    """Return the matrix of `pairs` [P, R] with the sum of each row, its largest pair framed, `across` pixels wide.

    Colours end at the largest absolute value. `says` describes the picture in a sentence.
    """
    look, (count, n_columns) = theme_named(theme), pairs.shape
    largest = float(np.abs(pairs).max()) or 1.0
    left = min(across * 0.36, _room(rows)) + _GAP_PIXELS
    top = min(120.0, _room(columns)) + _GAP_PIXELS
    sums = _SUMS_WIDTH if across > 350 else 0
    cell = (across - left - sums) / n_columns
    table, parts = lookup(look.diverging), []
    for column, label in enumerate(columns):
        x = left + cell * (column + 0.5) + LABEL_FONT_SIZE / 3
        name = text_of(cut(label, (top - _GAP_PIXELS) / WIDTH_FACTOR, LABEL_FONT_SIZE))
        parts.append(
            f'<text transform="translate({x:.1f} {top - _GAP_PIXELS:.1f}) rotate(-90)" font-size="{LABEL_FONT_SIZE}" '
            f'fill="{look.muted}">{name}</text>'
        )
    by_row = pairs.sum(1)
    widest_sum = float(np.abs(by_row).max()) or 1.0
    for row, label in enumerate(rows):
        y = top + _ROW_HEIGHT * row
        name = cut(label, (left - _GAP_PIXELS) / WIDTH_FACTOR, LABEL_FONT_SIZE)
        parts.append(_text((left - _GAP_PIXELS, y + _ROW_HEIGHT - 4), name, look.text, anchor="end"))
        for column in range(n_columns):
            rgb = table[shades(np.array(pairs[row, column] / largest), -1.0, 1.0)]
            parts.append(_rectangle(left + cell * column + 0.5, y + 0.5, cell - 1, _ROW_HEIGHT - 1, hexadecimal(rgb)))
        if sums:
            end = table[-1 if by_row[row] >= 0 else 0]
            length = max(1.0, (sums - _GAP_PIXELS) * abs(float(by_row[row])) / widest_sum)
            parts.append(_rectangle(across - sums + _GAP_PIXELS, y + 4, length, _ROW_HEIGHT - 8, hexadecimal(end)))
    i, j = np.unravel_index(np.abs(pairs).argmax(), pairs.shape)
    parts.append(
        f'<rect x="{left + cell * j - 1:.1f}" y="{top + _ROW_HEIGHT * i - 1:.1f}" width="{cell + 2:.1f}" '
        f'height="{_ROW_HEIGHT + 2}" rx="3" fill="none" stroke="{look.text}" stroke-width="2"/>'
    )
    bottom = top + _ROW_HEIGHT * count + _GAP_PIXELS
    parts += _colour_key(left, bottom, min(90.0, across - left - 120), largest, theme)
    return Drawing(parts, (across, bottom + _KEY_HEIGHT), says)


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
    # One pixel more, so that rounding cuts no label.
    return (widest(labels, LABEL_FONT_SIZE) + 1) * WIDTH_FACTOR


def _rectangle(x: float, y: float, across: float, down: float, colour: str, rounded: float = 1.5) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{across:.1f}" height="{down:.1f}" rx="{rounded}" fill="{colour}"/>'
    )
