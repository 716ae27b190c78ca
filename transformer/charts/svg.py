"""A pattern as a picture for print: SVG, which scales to any size and can be edited.

Q queries are the rows, K keys the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np

from transformer.charts.colours import Theme, lookup, theme_named
from transformer.charts.labels import widest

FONT = "system-ui, 'Source Sans 3', 'Noto Sans', 'Noto Sans Devanagari', sans-serif"
_CELL, _SMALLEST_CELL, _GRID = 28, 2, 900  # a cell's side in pixels, its least, and the side of the grid it aims at
_LABELS_FROM = 9  # pixels; below that a label would be larger than its row


def pattern_svg(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    masked: np.ndarray | None = None,
    reads: Sequence[str] | None = None,
    title: str = "",
    limit: float = 1.0,
    signed: bool = False,
    theme: str = "light",
) -> str:
    """`weights` [Q, K] as an SVG document: colours from 0 to `limit`, or from -`limit` to `limit` where `signed`.

    Cells of one colour are one path, so that 512 by 512 cells stay a few megabytes. Masked cells are hatched.
    """
    look = theme_named(theme)
    weights = np.asarray(weights, dtype=np.float32)
    masked = np.zeros(weights.shape, dtype=bool) if masked is None else masked
    assert weights.shape == (len(rows), len(columns)) == masked.shape
    cell = max(min(_CELL, _GRID // max(weights.shape)), _SMALLEST_CELL)
    named = cell >= _LABELS_FROM
    size = min(13, cell)
    left = (widest(rows) + (widest(reads) + 24 if reads else 0) + 40) if named else 40
    top = (widest(columns) * 0.75 + 64) if named else 64
    width, height = left + cell * len(columns) + 120, top + cell * len(rows) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="{size}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="100%" height="100%" fill="{look.background}"/>',
        f'<text x="{left:.0f}" y="22" font-size="15" font-weight="600" fill="{look.text}">{escape(title)}</text>',
        f'<g transform="translate({left:.0f} {top:.0f})">',
        *_cells(weights, masked, cell, limit, signed, look),
        *_hatching(masked, cell, look),
        f'<rect width="{cell * len(columns)}" height="{cell * len(rows)}" fill="none" stroke="{look.line}"/>',
    ]
    if named:
        parts += _labels(rows, columns, reads, cell, look)
    parts += _bar(cell * len(columns) + 16, cell * len(rows), limit, signed, look)
    return "\n".join([*parts, "</g></svg>"])


def _cells(weights: np.ndarray, masked: np.ndarray, cell: int, limit: float, signed: bool, look: Theme) -> list[str]:
    low = -limit if signed else 0.0
    shades = np.rint(255 * np.clip((weights - low) / (limit - low), 0, 1)).astype(int)
    table = lookup(look.diverging if signed else look.sequential)
    parts = []
    for shade in np.unique(shades[~masked]):
        places = np.argwhere((shades == shade) & ~masked)
        path = "".join(f"M{k * cell} {q * cell}h{cell}v{cell}h-{cell}z" for q, k in places)
        parts.append(f'<path fill="{_hex(table[shade])}" d="{path}"/>')
    return parts


def _hatching(masked: np.ndarray, cell: int, look: Theme) -> list[str]:
    if not masked.any():
        return []
    path = "".join(f"M{k * cell} {(q + 1) * cell}l{cell} -{cell}" for q, k in np.argwhere(masked))
    return [f'<path class="masked" fill="none" stroke="{look.hatch}" d="{path}"/>']


def _labels(
    rows: Sequence[str], columns: Sequence[str], reads: Sequence[str] | None, cell: int, look: Theme
) -> list[str]:
    parts = []
    for q, label in enumerate(rows):
        y = q * cell + cell / 2 + 4
        parts.append(f'<text x="-8" y="{y:.1f}" text-anchor="end" fill="{look.text}">{escape(label)}</text>')
        if reads:
            x = -24 - widest(rows)
            parts.append(
                f'<text x="{x:.0f}" y="{y:.1f}" text-anchor="end" fill="{look.muted}">{escape(reads[q])}</text>'
            )
    for k, label in enumerate(columns):
        at = f"translate({k * cell + cell / 2 + 4:.1f} -8) rotate(-45)"
        parts.append(f'<text transform="{at}" fill="{look.text}">{escape(label)}</text>')
    if reads:
        for x, label in ((-24 - widest(rows), "reads"), (-8, "writes")):
            parts.append(f'<text x="{x:.0f}" y="-8" text-anchor="end" fill="{look.muted}">{label}</text>')
    return parts


def _bar(x: float, height: int, limit: float, signed: bool, look: Theme) -> list[str]:
    colours = look.diverging if signed else look.sequential
    stops = "".join(
        f'<stop offset="{i / (len(colours) - 1):g}" stop-color="{colour}"/>' for i, colour in enumerate(colours)
    )
    low = -limit if signed else 0.0
    texts = "".join(
        f'<text x="{x + 14}" y="{height * (1 - at) + 4:.1f}" font-size="12" fill="{look.muted}">'
        f"{low + at * (limit - low):.3g}</text>"
        for at in (0, 0.5, 1)
    )
    return [
        f'<defs><linearGradient id="bar" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient></defs>',
        f'<rect x="{x}" width="8" height="{height}" fill="url(#bar)" stroke="{look.line}"/>{texts}',
    ]


def _hex(colour: np.ndarray) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in colour)
