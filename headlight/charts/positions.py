"""Codes of positions as pictures: all of their numbers, and how similar positions are.

Letters: N positions, D numbers in a code, P = D / 2 pairs of them. All lengths are in pixels.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, bare, flat_bar, note, over_distances, quiet_axis
from headlight.charts.colours import OKABE_ITO, Theme, theme_named
from headlight.charts.figure import Figure

_MAX_COLUMNS, _MAX_ROWS = 800, 256  # of a heatmap: more than a screen has pixels for
# The parts of `waves` from the top down, and the gaps below the curves and between the heatmaps.
_CURVES_HEIGHT, _SINES_HEIGHT, _COSINES_HEIGHT = 132, 168, 112
_GAP_HEIGHT, _THIN_GAP_HEIGHT = 26, 12
_MAX_MAP_HEIGHT, _MIN_MAP_HEIGHT, _ROW_HEIGHT = 292, 22, 16  # of the heatmap that is not split into sines and cosines
_MIN_NAMED_ROW_HEIGHT = 14  # where rows are lower, only some are named
_MAX_DOTTED_POSITIONS = 60  # of more positions, the curves have no dots


class Smooth(NamedTuple):
    """The chosen curves between the positions, for schemes that are defined there."""

    x: np.ndarray  # [M]
    y: np.ndarray  # [M, curves]


def waves(
    table: np.ndarray,
    dims: Sequence[int],
    *,
    wavelengths: np.ndarray | None = None,
    smooth: Smooth | None = None,
    theme: str = "light",
) -> Figure:
    """Return the chosen `dims` of a table [N, D] as curves over its positions, and under them, on the same axis, all of
    it.

    With `wavelengths` [P] the table alternates sines and cosines, which are drawn as two heatmaps. If there are more
    positions than fit, means of neighbours are drawn, and the hover says so.
    A sentence about the picture is in `layout.meta`. Raises ValueError for a dimension that does not exist.
    """
    n, width = table.shape
    for dim in dims:
        if not 0 <= dim < width:
            raise ValueError(f"There is no dimension {dim}: choose from 0 to {width - 1}.")
    look = theme_named(theme)
    limit = float(np.abs(table).max()) or 1.0
    heights = [_CURVES_HEIGHT, min(_MAX_MAP_HEIGHT, _map_height(width))]
    if wavelengths is not None:
        heights = [_CURVES_HEIGHT, _SINES_HEIGHT, _COSINES_HEIGHT]
    parts = [slice(0, None, 2), slice(1, None, 2)] if wavelengths is not None else [slice(None)]
    domains, total = _stacked(heights)
    traces = _curves(table, dims, smooth)
    traces += [_map(table, part, f"y{axis}") for axis, part in enumerate(parts, 2)]
    layout = bare(look) | {
        "height": total + 66,
        "margin": {"l": 48, "r": 136, "t": 10, "b": 56, "autoexpand": False},
        "hovermode": "x",
        "hoversubplots": "axis",
        "xaxis": quiet_axis(look)
        | {
            "range": [-0.5, n - 0.5],
            "anchor": f"y{len(parts) + 1}",
            "showspikes": True,
            "spikemode": "across",
            "spikesnap": "hovered data",
            "spikethickness": 1,
            "spikedash": "solid",
            "spikecolor": look.muted,
            "tickformat": ",d",
            "hoverformat": ",d",
            **_whole_ticks(0, n - 1),
        },
        "yaxis": quiet_axis(look) | {"domain": domains[0], **_curve_range(table, dims)},
        "coloraxis": {
            "cmin": -limit,
            "cmax": limit,
            "colorscale": look.diverging,
            "colorbar": flat_bar(look, limit, total),
        },
        "annotations": [
            *_ends(table, dims, look),
            note("position →", look.muted, size=SMALL_FONT_SIZE, x=1, xshift=10, y=0, yshift=-2, yanchor="top"),
        ],
    }
    for axis, (part, domain, height) in enumerate(zip(parts, domains[1:], heights[1:], strict=True), 2):
        rows = np.arange(width)[part]
        layout[f"yaxis{axis}"] = quiet_axis(look) | _row_ticks(rows, height) | {"domain": domain, "anchor": "x"}
        layout["annotations"] += _marks([d for d in dims if d in rows], dims, f"y{axis}")
    if wavelengths is not None:
        layout["annotations"] += _wavelengths(wavelengths, domains, look)
    meta = f"{n:,} positions, {width:,} numbers each, from {table.min():.3g} to {table.max():.3g}."
    return Figure(traces, layout | {"meta": meta})


def _map_height(rows: int) -> int:
    return max(_ROW_HEIGHT * rows, _MIN_MAP_HEIGHT)


def _stacked(heights: Sequence[int]) -> tuple[list[list[float]], int]:
    """Return the spans of parts with these heights, from the top, as shares of the total height; and that height."""
    gaps = [0, _GAP_HEIGHT, *[_THIN_GAP_HEIGHT] * len(heights)][: len(heights)]
    total, top = sum(heights) + sum(gaps), 0
    domains = []
    for height, gap in zip(heights, gaps, strict=True):
        top += gap
        domains.append([max(0.0, 1 - (top + height) / total), 1 - top / total])
        top += height
    return domains, total


def _curves(table: np.ndarray, dims: Sequence[int], smooth: Smooth | None) -> list[dict[str, Any]]:
    n = len(table)
    mode = "markers" if smooth is not None else "lines" if n > _MAX_DOTTED_POSITIONS else "lines+markers"
    traces: list[dict[str, Any]] = []
    for number, dim in enumerate(dims):
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        jumps = bool(np.isin(table[:, dim], (0, 1)).all())  # bits have nothing between them
        line = {"width": 2, "color": colour, "shape": "hvh" if jumps else "linear"}
        if smooth is not None:
            between = {"x": smooth.x.astype(np.float32), "y": smooth.y[:, number].astype(np.float32)}
            traces.append({"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", **between})
        traces.append(
            {
                "type": "scatter",
                "mode": mode,
                "x0": 0,
                "dx": 1,
                "y": table[:, dim].astype(np.float32),
                "line": line,
                "marker": {"size": 5, "color": colour, "opacity": 1 if n <= _MAX_DOTTED_POSITIONS else 0},
                "hovertemplate": f"<b>%{{y:.3f}}</b> dimension {dim}<extra></extra>",
            }
        )
    return traces


def _map(table: np.ndarray, part: slice, axis: str) -> dict[str, Any]:
    """Return the table's columns of one part as rows of a heatmap."""
    n, width = table.shape
    rows = np.arange(width)[part]
    every, block = math.ceil(len(rows) / _MAX_ROWS), math.ceil(n / _MAX_COLUMNS)
    z = pooled(table[:, rows[::every]], block).T
    where = "position %{x:,d}" if block == 1 else f"mean of the {block} positions around %{{x:,.0f}}"
    return {
        "type": "heatmap",
        "z": np.ascontiguousarray(z, np.float32),
        "x0": (block - 1) / 2,
        "dx": block,
        "y0": int(rows[0]),
        "dy": int(every * (rows[1] - rows[0])) if len(rows) > 1 else 1,
        "yaxis": axis,
        "coloraxis": "coloraxis",
        "hovertemplate": f"<b>%{{z:.3f}}</b> dimension %{{y}}, {where}<extra></extra>",
    }


def pooled(table: np.ndarray, block: int) -> np.ndarray:
    """Return the mean of every `block` rows, [N, D] -> [⌈N / block⌉, D]; the last mean may be of fewer."""
    starts = np.arange(0, len(table), block)
    counts = np.diff([*starts, len(table)])
    return np.add.reduceat(table, starts, axis=0) / counts[:, None]


def pooling(n: int, width: int, paired: bool) -> tuple[int, int]:
    """Return how many positions `waves` pools into a column of its heatmap, and how many dimensions into a row."""
    rows = math.ceil(width / 2) if paired else width
    return math.ceil(n / _MAX_COLUMNS), math.ceil(rows / _MAX_ROWS)


def _curve_range(table: np.ndarray, dims: Sequence[int]) -> dict[str, Any]:
    columns = table[:, list(dims)] if len(dims) else np.zeros((1, 1))
    low, high = min(float(columns.min()), 0.0), max(float(columns.max()), 0.0)
    margin = 0.06 * ((high - low) or 1.0)
    ticks: dict[str, Any] = {"nticks": 5}
    if low >= -1 and high <= 1 and max(-low, high) > 0.5:
        low, high = (-1.0 if low < 0 else 0.0), 1.0
        ticks = {"tickvals": [-1, 0, 1], "ticktext": ["−1", "0", "1"]}
    return {"range": [low - margin, high + margin], "showgrid": True, "fixedrange": True} | ticks


def _ends(table: np.ndarray, dims: Sequence[int], look: Theme) -> list[dict[str, Any]]:
    """Return the names of the curves beside their last values, pushed apart where they would touch."""
    if not len(dims):
        return []
    scale = _curve_range(table, dims)["range"]
    top = [(scale[1] - table[-1, dim]) / (scale[1] - scale[0]) * _CURVES_HEIGHT for dim in dims]
    order = np.argsort(top, kind="stable")
    room = min(17.0, (_CURVES_HEIGHT + 12) / len(dims))
    for before, this in zip(order, order[1:], strict=False):
        top[this] = max(top[this], top[before] + room)
    lowest = _CURVES_HEIGHT - 10.0  # the word "wavelength" stands below
    for this in order[::-1]:
        top[this] = min(top[this], lowest)
        lowest = top[this] - room
    return [
        note(
            f'<span style="color:{OKABE_ITO[number % len(OKABE_ITO)]}">■</span> dimension {dim}',
            look.text,
            x=1,
            xshift=10,
            y=1,
            yshift=-top[number],
            yanchor="middle",
        )
        for number, dim in enumerate(dims)
    ]


def _marks(here: Sequence[int], dims: Sequence[int], axis: str) -> list[dict[str, Any]]:
    """Return a square of the curve's colour beside its row of the heatmap."""
    return [
        note("■", OKABE_ITO[list(dims).index(dim) % len(OKABE_ITO)], size=9, x=0, xshift=-2, y=dim, yref=axis)
        | {"xanchor": "right", "yanchor": "middle"}
        for dim in here
    ]


def _wavelengths(wavelengths: np.ndarray, domains: Sequence[Sequence[float]], look: Theme) -> list[dict[str, Any]]:
    """Return how many positions a wave takes, at some rows of the sines."""
    last = len(wavelengths) - 1
    ticks = sorted({round(last * share / 4) for share in range(5)})
    notes = [
        note("2π = 6.3 words" if i == 0 else f"{wavelengths[i]:,.0f} words", look.text, x=1, xshift=10, y=2 * i)
        | {"yref": "y2", "yanchor": "middle"}
        for i in ticks
    ]
    small = {"x": 1, "xshift": 10, "size": SMALL_FONT_SIZE}
    notes.append(note("wavelength", look.muted, **small, y=domains[1][1], yanchor="bottom", yshift=8))
    text = "the cosines: the same<br>waves, a quarter<br>period ahead"
    notes.append(note(text, look.muted, **small, y=domains[2][1], yanchor="top") | {"align": "left"})
    return notes


def _row_ticks(rows: np.ndarray, height: int) -> dict[str, Any]:
    """Return ticks for dimensions from the top down, all labelled where there is room."""
    step = (rows[1] - rows[0]) if len(rows) > 1 else 1
    if height >= _MIN_NAMED_ROW_HEIGHT * len(rows):
        ticks = rows.tolist()
    else:
        parts = 4 if height >= 4 * 34 else 2  # quarters and halves, since widths are round
        ticks = sorted({*(int(rows[len(rows) * part // parts]) for part in range(parts)), int(rows[-1])})
    return {
        "range": [rows[-1] + step / 2, rows[0] - step / 2],
        "tickvals": ticks,
        "ticktext": [str(row) for row in ticks],
        "ticklabelstandoff": 8,
        "showgrid": False,
        "fixedrange": True,
    }


def _whole_ticks(first: int, last: int) -> dict[str, Any]:
    """Return integer ticks, which Plotly would not choose for an axis this short."""
    return {"tickvals": list(range(first, last + 1))} if last - first < 6 else {}


# ---- similarity ----


def similarity(curves: Mapping[int, np.ndarray], reach: int, *, nested: bool, theme: str = "light") -> Figure:
    """Return how similar a position is to those up to `reach` before and after it: `curves` has [N] values for each of
    some p.

    With `nested`, earlier curves are drawn wider, so that those which lie on one another are all seen.
    """
    look = theme_named(theme)
    traces, lowest = [], 0.0
    for number, (p, values) in enumerate(curves.items()):
        distance = np.arange(len(values)) - p
        near = np.abs(distance) <= reach
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if near.sum() > 1 else "markers",
                "name": f"p = {p:,}",
                "x": distance[near].astype(np.int32),
                "y": values[near].astype(np.float32),
                "line": {"width": max(8 - 3 * number, 1.5) if nested else 1.8, "color": OKABE_ITO[number]},
                "marker": {"color": OKABE_ITO[number], "size": max(12 - 3 * number, 3)},
                "hovertemplate": f"<b>%{{y:.3f}}</b> from {p:,}<extra></extra>",
            }
        )
        finite = values[near & np.isfinite(values)]
        lowest = min(lowest, float(finite.min(initial=lowest)))
    layout = over_distances(look, "distance k in words", -reach, reach) | {"hovermode": "x"}
    layout["xaxis"] |= _whole_ticks(-reach, reach)
    layout["yaxis"]["range"] = [min(lowest - 0.06, -0.06), 1.08]
    positions = ", ".join(f"{p:,}" for p in curves)
    layout["meta"] = f"Similarity against distance, up to {reach:,} words away, from positions {positions}."
    return Figure(traces, layout)
