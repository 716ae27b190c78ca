"""Draw why a word was written, as SVG: shares in rows, a waterfall chart, maps of heads, and bars of agreement.

Elements that can be selected have a `data-pick`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from headlight.charts.colours import LESS_COLOUR, MORE_COLOUR, Theme, hexadecimal, lookup, shades, theme_named
from headlight.charts.document import Drawing, text_element, text_of
from headlight.charts.labels import cut, widest, width
from headlight.formatting import minus, percent, signed

SMALL_FONT_SIZE = 13
_ROW_HEIGHT, _CELL_HEIGHT, _GAP_WIDTH = 24, 34, 22  # heights of a row and a cell, and the room between two maps
_text = partial(text_element, size=SMALL_FONT_SIZE)
_cut = partial(cut, size=SMALL_FONT_SIZE)


class BarGroup(NamedTuple):
    """N tokens with two measures each, and the effect of leaving each token out: [N] each."""

    name: str
    labels: Sequence[str]
    first: np.ndarray
    second: np.ndarray
    left_out: np.ndarray | None  # in nats; None where nothing was left out


class Effect(NamedTuple):
    """A step of a waterfall chart; `parts` are the values that add up to it, by name."""

    name: str
    value: float
    parts: Mapping[str, float] = {}


class Map(NamedTuple):
    """The numbers of a grid [rows, columns]; `picks` names each cell that can be chosen."""

    name: str
    values: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    picks: Sequence[Sequence[str]] | None = None


class MapScale(NamedTuple):
    """Colours from 0 to `limit`, or from -`limit` if `diverging`; `ends` label both ends."""

    limit: float
    ends: tuple[str, str]
    diverging: bool = False
    percent: bool = False  # whether the numbers are shares, which are written as per cent

    def table(self, look: Theme) -> np.ndarray:
        """Return the colours, [256, 3]."""
        return lookup(look.diverging if self.diverging else look.sequential)

    def written(self, value: float) -> str:
        """Return a number in its cell."""
        if np.isnan(value):
            return "–"
        return minus(f"{round(100 * value)}") if self.percent else signed(value, plus=True, decimals=2)


def shares(
    groups: Sequence[BarGroup], names: tuple[str, str], theme: str, *, least: float = 0.0, across: int = 440
) -> Drawing:
    """Draw two bars for each token and, as points joined by a line over both, the change where it is left out.

    Bars of one column share a scale, and so do the points. Tokens whose second measure and point are both below the
    share `least` of their scales are combined into one row.
    """
    look = theme_named(theme)
    room, numbers = (118.0, 62.0) if across > 400 else (96.0, 50.0)
    bar = (across - room - numbers - 28) / 2
    lefts = room, room + bar + 18
    columns = [group.first for group in groups], [group.second for group in groups]
    largest = [max([1e-9, *(float(np.max(part, initial=0.0)) for part in column)]) for column in columns]
    effects = [group.left_out for group in groups if group.left_out is not None]
    furthest = max([1e-9, *(float(np.max(effect, initial=0.0)) for effect in effects)])
    decimals = min(5, max(2, 1 - int(np.floor(np.log10(furthest)))))  # two digits of the largest, where it is small
    parts = [
        _text((lefts[0], 14), names[0], look.text, weight=600),
        _text((lefts[1], 14), names[1], look.text, weight=600),
        _text((across, 14), "left out", look.text, anchor="end", weight=600),
    ]
    y = 24.0
    for group in groups:
        sums = [float(np.sum(part)) for part in (group.first, group.second)]
        parts.append(_text((0, y + 16), _cut(group.name, room - 6), look.text, weight=600))
        parts += [_text((left, y + 16), f"Σ {total:.2f}", look.muted) for left, total in zip(lefts, sums, strict=True)]
        y += _ROW_HEIGHT
        drawn_rows, unchosen = _chosen(group, least, largest[1], furthest)
        points: list[tuple[float, float]] = []
        for at in drawn_rows:
            middle = y + _ROW_HEIGHT / 2
            parts.append(_text((0, middle + 5), _cut(group.labels[at], room - 6), look.text))
            for left, values, most, colour in zip(
                lefts, (group.first, group.second), largest, (look.sequential[1], look.accent), strict=True
            ):
                parts.append(_bar(left, middle - 6, max(1.0, bar * float(values[at]) / most), 12, colour))
            if group.left_out is not None:
                cost = float(group.left_out[at])
                parts.append(_text((across, middle + 5), signed(cost, decimals=decimals), look.text, anchor="end"))
                points.append((max(0.0, cost) / furthest, middle))
            y += _ROW_HEIGHT
        if unchosen:
            middle = y + _ROW_HEIGHT / 2
            parts.append(_text((0, middle + 5), f"{len(unchosen)} others", look.muted))
            for left, values, most in zip(lefts, (group.first, group.second), largest, strict=True):
                size = min(1.0, float(np.sum(np.asarray(values)[unchosen])) / most)
                parts.append(_bar(left, middle - 5, max(1.0, bar * size), 10, "none", look.muted))
            y += _ROW_HEIGHT
        parts += [_line([(left + bar * x, at) for x, at in points], look) for left in lefts if points]
        y += 8
    parts += [f'<path d="M{left - 0.5:.1f} 26V{y - 8:.1f}" stroke="{look.line}"/>' for left in lefts]
    parts.append(_line([(0, y + 8), (22, y + 8)], look))
    parts.append(_text((30, y + 13), "change when the token is left out, nats", look.muted))
    first = max(range(len(groups[0].labels)), key=lambda at: float(groups[0].second[at]))
    says = f"{names[0]} and {names[1]} of every token; the largest {names[1]} is {groups[0].labels[first]}."
    return Drawing(parts, (across, y + 22), says)


def _chosen(group: BarGroup, least: float, most: float, furthest: float) -> tuple[list[int], list[int]]:
    costs = np.zeros(len(group.labels)) if group.left_out is None else np.abs(group.left_out)
    far = [a >= least * most or b >= least * furthest for a, b in zip(group.second, costs, strict=True)]
    drawn_rows = [at for at, is_far in enumerate(far) if is_far]
    near = [at for at, is_far in enumerate(far) if not is_far]
    return (list(range(len(far))), []) if len(near) < 2 else (drawn_rows, near)


def waterfall(
    effects: Sequence[Effect],
    towards: str,
    theme: str,
    *,
    opened: bool = False,
    total_name: str = "Difference",
    across: int = 440,
) -> Drawing:
    """Draw the effects one after another and their sum; if `opened`, the parts of each effect are below it."""
    look = theme_named(theme)
    total = sum(effect.value for effect in effects)
    rows: list[tuple[str, float, float, bool]] = []  # name, where it begins, value, whether it is a part of another
    begin = 0.0
    for effect in effects:
        rows.append((effect.name, begin, effect.value, False))
        inner = begin
        for name, value in effect.parts.items() if opened else ():
            rows.append((name, inner, value, True))
            inner += value
        begin += effect.value
    ends = [0.0, total, *(row[1] for row in rows), *(row[1] + row[2] for row in rows)]
    low, high = min(ends), max(ends)
    left, right = (166.0, 62.0) if across > 400 else (152.0, 56.0)
    scale = (across - left - right) / ((high - low) or 1.0)

    def x(value: float) -> float:
        return left + (value - low) * scale

    parts = [_text((min(x(0) + 6, across - 120), 12), f"towards {cut(towards, 100)} →", look.muted)]
    y = 22.0
    parts.append(f'<path d="M{x(0):.1f} 0V{y + 30 * len(rows) + 32:.1f}" stroke="{look.line}"/>')
    for at, (name, start, value, inner) in enumerate(rows):
        middle, size = y + 15, 9 if inner else 18
        colour = MORE_COLOUR if value >= 0 else LESS_COLOUR
        parts.append(_text((22 if inner else 0, middle + 5), name, look.muted if inner else look.text))
        box = _bar(x(min(start, start + value)), middle - size / 2, max(1.5, abs(value) * scale), size, colour)
        parts.append(box)
        parts.append(_text((across, middle + 5), signed(value, plus=True, decimals=2), look.text, anchor="end"))
        if not inner and (after := next((i for i, row in enumerate(rows) if i > at and not row[3]), len(rows))):
            below = y + 30 * (after - at) + 7
            parts.append(
                f'<path d="M{x(start + value):.1f} {middle + 9}V{below:.1f}" stroke="{look.muted}" '
                'stroke-dasharray="2 3" fill="none"/>'
            )
        y += 30
    parts.append(f'<path d="M0 {y + 0.5}H{across}" stroke="{look.line}"/>')
    parts.append(_text((0, y + 21), total_name, look.text, weight=600))
    parts.append(_bar(x(min(0.0, total)), y + 7, max(1.5, abs(total) * scale), 18, look.text))
    parts.append(_text((across, y + 21), signed(total, plus=True, decimals=2), look.text, anchor="end", weight=600))
    summary = ", ".join(f"{effect.name} {signed(effect.value, plus=True, decimals=2)}" for effect in effects)
    together = f"together {signed(total, plus=True, decimals=2)} towards {towards}"
    return Drawing(parts, (across, y + 32), f"{summary}; {together}.")


def maps(
    grids: Sequence[Map],
    theme: str,
    scale: MapScale,
    *,
    chosen: Sequence[str] = (),
    across: int = 440,
    cell: float = 42.0,
) -> Drawing:
    """Draw grids of coloured cells with their numbers, side by side as far as the width allows, over one scale.

    Cells whose pick is among `chosen` are outlined, and are `cell` pixels wide where there is room. Grids with the same
    rows that stand side by side have one set of labels.
    """
    look = theme_named(theme)
    named = min(112.0, max(widest(grid.rows, SMALL_FONT_SIZE) for grid in grids)) + 12
    parts: list[str] = []
    outlines: list[str] = []
    x = y = tall = reach = 0.0
    before: Sequence[str] | None = None  # the rows of the grid at the left
    for grid in grids:
        rows, columns = grid.values.shape
        cell = max(18.0, min(cell, (across - named) / columns))
        label = 0.0 if grid.rows == before else named
        wide = max(columns * cell, width(grid.name, SMALL_FONT_SIZE))
        if x and x + label + wide > across:
            x, y, tall, label = 0.0, y + tall + 18, 0.0, named
        long = widest(grid.columns, SMALL_FONT_SIZE)
        slanted = long > cell + 6
        top = 20 + (min(90.0, long) * 0.71 + 8 if slanted else 20)
        before = grid.rows
        parts.append(_text((x + label, y + 14), grid.name, look.text, weight=600))
        for column, name in enumerate(grid.columns):
            middle, at = x + label + (column + 0.5) * cell, y + top - 6
            if slanted:
                parts.append(
                    f'<g transform="translate({middle:.1f} {at:.1f}) rotate(-45)">'
                    f"{_text((0, 0), cut(name, 90), look.muted)}</g>"
                )
            else:
                parts.append(_text((middle, at), name, look.muted, anchor="middle"))
        for row, name in enumerate(grid.rows):
            if label:
                parts.append(_text((x, y + top + row * (_CELL_HEIGHT + 2) + 21), _cut(name, 110.0), look.muted))
            for column in range(columns):
                value = float(grid.values[row, column])
                pick = "" if grid.picks is None else grid.picks[row][column]
                box = (x + label + column * cell + 1, y + top + row * (_CELL_HEIGHT + 2), cell - 2, _CELL_HEIGHT)
                cell_name = f"{grid.name} {grid.columns[column]}".strip()
                caption = f"{cell_name}, {name}: {percent(value, 0) if scale.percent else scale.written(value)}"
                parts.append(_cell(box, value, scale, look, pick, caption))
                if pick and pick in chosen:
                    outlines.append(
                        f'<rect x="{box[0] - 2:.1f}" y="{box[1] - 2:.1f}" width="{box[2] + 4:.1f}" '
                        f'height="{_CELL_HEIGHT + 4}" rx="7" fill="none" stroke="{look.accent}" stroke-width="2.5" '
                        'pointer-events="none"/>'
                    )
        tall = max(tall, top + rows * (_CELL_HEIGHT + 2))
        x += label + wide + _GAP_WIDTH
        reach = max(reach, x - _GAP_WIDTH)
    key = _colour_key(scale, look, y + tall + 14, across)
    size = max(reach, key.size[0], min(across, 320)) + 3, key.size[1]
    return Drawing([*parts, *key.elements, *outlines], size, _largest(grids, scale))


def _colour_key(scale: MapScale, look: Theme, y: float, across: float) -> Drawing:
    """Draw the colours of a scale between its ends, from `y` down, in two lines where one is wider than `across`."""
    colours = map(hexadecimal, scale.table(look)[np.rint(np.linspace(0, 255, 12)).astype(int)])
    stops = "".join(f'<rect x="{i * 8}" width="8.5" height="8" fill="{fill}"/>' for i, fill in enumerate(colours))
    first, last = scale.ends
    bar_left, last_width = width(first, SMALL_FONT_SIZE) + 8, width(last, SMALL_FONT_SIZE)
    is_broken = bar_left + 104 + last_width > across
    left, line = (0.0, y + 29) if is_broken else (bar_left + 104, y + 9)
    parts = [
        _text((0, y + 9), first, look.muted),
        f'<g transform="translate({bar_left:.1f} {y + 1:.1f})">{stops}</g>',
        _text((left, line), last, look.muted),
    ]
    return Drawing(parts, (max(left + last_width, bar_left + 100), line + 9))


def _largest(grids: Sequence[Map], scale: MapScale) -> str:
    measured = [grid for grid in grids if not np.isnan(grid.values).all()]
    grid = max(measured, key=lambda candidate: float(np.nanmax(np.abs(candidate.values))))
    row, column = divmod(int(np.nanargmax(np.abs(grid.values))), grid.values.shape[1])
    value = scale.written(float(grid.values[row, column]))
    return f"The largest number is {value}: {grid.name} {grid.columns[column]}, {grid.rows[row]}."


def bars(rows: Sequence[tuple[str, float, str]], theme: str, *, across: int = 440) -> Drawing:
    """Draw a bar for each (name, value, label), the first in the accent colour; the bar of a value below zero is empty.

    Where names and numbers leave no room between them, the names are lines of their own.
    """
    look = theme_named(theme)
    left = 12 + min(0.5 * across, widest(name for name, _, _ in rows))
    right = max(60.0, widest((text for _, _, text in rows), SMALL_FONT_SIZE) + 12)
    above = 20.0 if across - left - right < 40 else 0.0
    cut_at = across if above else left - 8
    left = 0.0 if above else left
    room = max(0.0, across - left - right)
    parts: list[str] = []
    for at, (name, value, text) in enumerate(rows):
        middle = (28.0 + above) * at + above + 14
        full = room * min(1.0, max(0.0, np.nan_to_num(value)))
        parts.append(_text((0, middle - above + 5), _cut(name, cut_at), look.text, weight=600 if at == 0 else 400))
        parts.append(_bar(left, middle - 4, room, 8, look.line))
        if full:
            parts.append(_bar(left, middle - 4, full, 8, look.accent if at == 0 else look.sequential[2]))
        parts.append(_text((across, middle + 5), text, look.text, anchor="end"))
    summary = "; ".join(f"{name} {text}" for name, _, text in rows)
    return Drawing(parts, (across, (28.0 + above) * len(rows)), f"{summary}.")


def _cell(
    box: tuple[float, float, float, float], value: float, scale: MapScale, look: Theme, pick: str, label: str
) -> str:
    left, top, wide, high = box
    share = 0.0 if np.isnan(value) else value / scale.limit
    rgb = scale.table(look)[shades(np.array(share), -1.0 if scale.diverging else 0.0, 1.0)]
    light = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 143
    inks = theme_named("light").text, "#ffffff"
    ink = look.muted if abs(share) < 0.05 else inks[0] if light else inks[1]
    size = SMALL_FONT_SIZE if wide >= 40 else 12  # no less: a projector enlarges it by half, to 18
    text = scale.written(value)
    number = _text((left + wide / 2, top + 21), text, ink, size=size, anchor="middle") if wide >= 27 else ""
    attributes = (
        f' data-pick="{text_of(pick)}" role="button" tabindex="0" aria-label="{_quoted(label)}"' if pick else ""
    )
    rect = (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high}" rx="5" fill="{hexadecimal(rgb)}" '
        f'stroke="{look.line}" stroke-width="1"/>'
    )
    return f"<g{attributes}><title>{text_of(label)}</title>{rect}{number}</g>"


def _quoted(text: str) -> str:
    return text_of(text).replace('"', "&quot;")


def _bar(left: float, top: float, across: float, down: float, colour: str, edge: str = "none") -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{across:.1f}" height="{down}" rx="2" fill="{colour}" '
        f'stroke="{edge}"/>'
    )


def _line(points: Sequence[tuple[float, float]], look: Theme) -> str:
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{look.text}" stroke="{look.background}"/>' for x, y in points
    )
    return f'<path d="M{path}" fill="none" stroke="{look.text}" stroke-width="1.4" opacity=".75"/>{dots}'
