"""The labelled grid that a matrix is drawn on: its size, its axes, its hatched cells, its colour bar.

Q rows are queries, from the top down; K columns are keys. All lengths are in pixels. The axes are numeric with the
tokens as labels, so that equal tokens stay separate. The grid's own axes name each token in full on hover; axes laid
over them show the labels, cut to fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypedDict

import numpy as np

from headlight.charts.colours import Theme
from headlight.charts.labels import FONT_SIZE, cut, escaped, ordinal, widest, width
from headlight.graphemes import isolated, right_to_left, shortened

FONT = '"Headlight marks", "Source Sans", "Source Sans 3", "Noto Sans Devanagari", system-ui, sans-serif'
_NOTE_FONT_SIZE, _SMALL_FONT_SIZE = 13, 12  # of text other than tokens, and of tokens in low rows
_LABEL_GAP = 10  # between a label and its row or column
_LABEL_DEGREES = 42  # the slant of the column labels
_BAR_WIDTH = 70  # of the colour bar on the right
_MIN_GRID_HEIGHT, _MAX_GRID_HEIGHT = 128, 640
_MAX_ROW_HEIGHT, _MIN_ROW_HEIGHT = 32, 16  # of a row, where the number of rows leaves a choice
_MAX_NAME_COLUMNS = 400  # of a token's name on hover; a letter takes one column


class Spec(TypedDict):
    """A figure as Plotly's own script takes it.

    `go.Figure` checks every field of it, which takes ten times as long as making the specification.
    """

    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass(frozen=True)
class MatrixFrame:
    """The surroundings of a matrix; `masked` [Q, K] is True where a query may not look."""

    rows: Sequence[str]
    columns: Sequence[str]
    masked: np.ndarray
    theme: Theme
    reads: Sequence[str] = ()  # Q tokens, or none
    masked_note: str = "masked: this key comes later"
    row_title: str = "token that looks (query)"
    column_title: str = "looks at (key)"
    width: int = 480
    height: int | None = None

    @cached_property
    def leftwards(self) -> bool:
        """Whether the columns run from right to left."""
        return right_to_left(self.columns)

    @cached_property
    def row_labels(self) -> list[str]:
        return [cut(label, self.width * (0.15 if self.reads else 0.3)) for label in self.rows]

    @cached_property
    def read_labels(self) -> list[str]:
        return [cut(label, self.width * 0.15) for label in self.reads]

    @cached_property
    def column_labels(self) -> list[str]:
        return [cut(label, self.width * 0.2) for label in self.columns]


@dataclass(frozen=True)
class FrameSizes:
    """Margins, row height, column width, and the grid's share of the width."""

    left: int
    right: int
    top: int
    bottom: int
    reads_at: float  # how far left of the grid the labels of the tokens that are read end
    row: float
    column: float
    share: float


def sizes(frame: MatrixFrame) -> FrameSizes:
    """Return sizes for square cells at the frame's width, as far as the labels and the screen allow."""
    n_rows, n_columns = len(frame.rows), len(frame.columns)
    labels = widest([*frame.row_labels, "writes"]) + 2 * _LABEL_GAP
    left = round(28 + (labels + widest([*frame.read_labels, "reads"]) if frame.reads else labels - _LABEL_GAP))
    at_the_right = frame.column_labels[0 if frame.leftwards else -1]
    right = round(max(_BAR_WIDTH, 0.75 * width(at_the_right)))
    room = max(frame.width - left - right, 40)
    column = room / n_columns
    if frame.height is None:
        row = max(column, min(_MIN_ROW_HEIGHT, room / n_rows))
        row = min(row, max(_MAX_ROW_HEIGHT, _MIN_GRID_HEIGHT / n_rows), _MAX_GRID_HEIGHT / n_rows)
        column = min(column, row)
    lean = math.sin(math.radians(_LABEL_DEGREES)) if column >= _MIN_ROW_HEIGHT else 1
    top = round(30 + widest(frame.column_labels[:: _step(column)]) * lean + _LABEL_GAP)
    bottom = 8
    if frame.height is not None:
        row = max(frame.height - top - bottom, n_rows) / n_rows
    return FrameSizes(left, right, top, bottom, labels, row, column, share=min(1, column * n_columns / room))


def spec_in(frame: MatrixFrame, matrix: dict[str, Any], sentence: str) -> Spec:
    """Return the heatmap `matrix` in its frame, over hatched cells; `sentence` describes it in words."""
    traces = [matrix]
    if frame.masked.any():
        traces = [_masked_ground(frame), matrix, _hatching(frame)]
    # Plotly draws an axis only where a trace uses it.
    traces.append({"type": "scatter", "x": [None], "y": [None], "xaxis": "x2", "yaxis": "y2", "hoverinfo": "skip"})
    if frame.reads:
        traces.append(traces[-1] | {"yaxis": "y3"})
    return {"data": traces, "layout": _layout(frame) | {"meta": sentence}}


def _layout(frame: MatrixFrame) -> dict[str, Any]:
    size, theme, edges = sizes(frame), frame.theme, [-0.5, len(frame.columns) - 0.5]
    font = {"family": FONT, "size": FONT_SIZE, "color": theme.text}
    transparent = "rgba(0,0,0,0)"
    axes = {
        "xaxis": _grid_axis(frame.columns, size.column, theme)
        | {"side": "top", "range": edges[::-1] if frame.leftwards else edges, "domain": [0, size.share]},
        "yaxis": _grid_axis(frame.rows, size.row, theme) | {"range": [len(frame.rows) - 0.5, -0.5]},
        "xaxis2": _label_axis("x", frame.column_labels, size.column, theme.text)
        | {"side": "top", "tickangle": -_LABEL_DEGREES if size.column >= _MIN_ROW_HEIGHT else -90},
        "yaxis2": _label_axis("y", frame.row_labels, size.row, theme.text) | {"side": "left"},
    }
    if frame.reads:
        axes["yaxis3"] = _label_axis("y", frame.read_labels, size.row, theme.muted) | {
            "side": "left",
            "anchor": "free",
            "shift": -size.reads_at,
        }
    return axes | {
        "width": frame.width,
        "height": round(size.top + size.bottom + size.row * len(frame.rows)),
        "margin": {"l": size.left, "r": size.right, "t": size.top, "b": size.bottom, "pad": 0, "autoexpand": False},
        "paper_bgcolor": transparent,
        "plot_bgcolor": transparent,
        "font": font,
        "hoverlabel": {"bgcolor": theme.card, "bordercolor": theme.line, "align": "left", "font": font},
        "showlegend": False,
        "annotations": _titles(frame, size),
    }


def colour_bar(frame: MatrixFrame, title: str, ticks: dict[float, str]) -> dict[str, Any]:
    """Return a slim colour bar as high as the grid, with a title and ticks."""
    size, theme = sizes(frame), frame.theme
    return {
        "title": {"text": title, "side": "right", "font": {"size": _SMALL_FONT_SIZE, "color": theme.muted}},
        "thickness": 8,
        "x": size.share,
        "xpad": 14,
        "len": 1,
        "ypad": 0,
        "outlinewidth": 1,
        "outlinecolor": theme.line,
        "tickvals": list(ticks),
        "ticktext": list(ticks.values()),
        "ticks": "",
        "tickfont": {"size": _SMALL_FONT_SIZE, "color": theme.muted},
    }


def _step(cell: float) -> int:
    """Return the label stride n: every n-th label is shown, so that all of these have room."""
    return math.ceil((FONT_SIZE if cell >= _MIN_ROW_HEIGHT else _SMALL_FONT_SIZE) / cell)


def _grid_axis(names: Sequence[str], cell: float, theme: Theme) -> dict[str, Any]:
    """Return an axis of integers 0, 1, ... whose hover shows the tokens' names."""
    return {
        "labelalias": {str(i): escaped(isolated(shortened(name, _MAX_NAME_COLUMNS))) for i, name in enumerate(names)},
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "mirror": True,
        "linecolor": theme.line,
        "linewidth": 1,
        "fixedrange": _step(cell) == 1,  # zooming is for grids too fine to label each row
    }


def _label_axis(over: str, labels: Sequence[str], cell: float, colour: str) -> dict[str, Any]:
    """Return the labels along an axis of the grid; every n-th of them where the cells are small."""
    return {
        "overlaying": over,
        "matches": over,
        "tick0": 0,
        "dtick": _step(cell),
        "labelalias": {str(i): escaped(isolated(label)) for i, label in enumerate(labels)},
        "tickfont": {"size": FONT_SIZE if cell >= _MIN_ROW_HEIGHT else _SMALL_FONT_SIZE, "color": colour},
        "ticks": "",
        "ticklabelstandoff": 4,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": _step(cell) == 1,
    }


def _titles(frame: MatrixFrame, size: FrameSizes) -> list[dict[str, Any]]:
    def title(text: str, **position: object) -> dict[str, Any]:
        font = {"size": _NOTE_FONT_SIZE, "color": frame.theme.muted}
        return {"text": text, "font": font, "showarrow": False, "xref": "paper", "yref": "paper"} | position

    over_rows = {"x": 0, "xanchor": "right", "y": 1, "yanchor": "bottom", "yshift": 4}
    titles = [
        title(_counted(frame.column_title, size.column), x=size.share / 2, y=1, yanchor="top", yshift=size.top - 2),
        title(_counted(frame.row_title, size.row), x=0, xanchor="left", xshift=-size.left, y=0.5, textangle=-90),
    ]
    if frame.reads:
        titles += [
            title("writes", xshift=-4, **over_rows),
            title("reads", xshift=-4 - size.reads_at, **over_rows),
        ]
    return titles


def _counted(title: str, cell: float) -> str:
    """Return the title of an axis, which says so where labels are left out."""
    step = _step(cell)
    return escaped(title) if step == 1 else f"{escaped(title)}, every {ordinal(step)} labelled"


def _masked_ground(frame: MatrixFrame) -> dict[str, Any]:
    """Return the background of masked cells, under the hatching, which answers on hover."""
    return {
        "type": "heatmap",
        "z": frame.masked.astype(np.uint8),
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "rgba(0,0,0,0)"], [1, frame.theme.field]],
        "showscale": False,
        "hovertemplate": f"<b>%{{y}}</b> may not look at <b>%{{x}}</b><br>{escaped(frame.masked_note)}<extra></extra>",
    }


def _hatching(frame: MatrixFrame) -> dict[str, Any]:
    """Return diagonal lines over each run of masked cells in a row, as one trace of closed rectangles."""
    edges = np.diff(np.pad(frame.masked, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (row, start), (_, stop) = np.nonzero(edges == 1), np.nonzero(edges == -1)
    gap = np.full(len(row), np.nan)
    x = np.stack([start, stop, stop, start, start, gap], axis=1).ravel() - 0.5
    y = np.stack([row, row, row + 1, row + 1, row, gap], axis=1).ravel() - 0.5
    lines = {"shape": "/", "size": 6, "solidity": 0.2}
    return {
        "type": "scatter",
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "mode": "lines",
        "line": {"width": 0},
        "fill": "toself",
        "fillpattern": lines | {"fgcolor": frame.theme.hatch, "bgcolor": "rgba(0,0,0,0)"},
        "hoverinfo": "skip",
    }
