"""Draw one attention pattern as a heatmap with the tokens on both axes and each weight on hover.

Q queries are the rows, K keys the columns. These functions know arrays and labels, nothing of models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

import numpy as np

from headlight.charts.colours import SCALES, scale_title, scaled, theme_named
from headlight.charts.frame import MatrixFrame, Spec, colour_bar, spec_in
from headlight.charts.labels import ordinal
from headlight.charts.svg import Colours, HeadBlock, patterns_svg
from transformer.quoting import quoted

if TYPE_CHECKING:
    from headlight.charts.figure import Figure

KINDS = ("encoder", "decoder", "cross")


class FrameTexts(TypedDict, total=False):
    """The words and the size of a frame; `MatrixFrame` has the defaults."""

    masked_note: str  # the hover text of masked cells
    reads: Sequence[str]  # the Q tokens that the decoder reads when it writes those of the rows
    row_title: str
    column_title: str
    width: int  # pixels, at which cells are square
    height: int | None  # pixels, instead of square cells


class FrameOptions(FrameTexts, total=False):
    """Options of the surroundings of a matrix [Q, K]; `frame_of` has the defaults."""

    masked: np.ndarray | None  # [Q, K], True where a query may not look
    theme: str  # "light" or "dark"


class PatternOptions(FrameOptions, total=False):
    """Options of the frame and of the colours; `pattern` has the defaults."""

    scale: str
    name: str
    limit: float


class DifferenceOptions(FrameOptions, total=False):
    """Options of the frame and of the colours of a difference; `difference` has the defaults."""

    name: str
    limit: float | None


class Labelled(Protocol):
    @property
    def labels(self) -> list[str]: ...


class TraceLike(Protocol):
    """The attributes of a trace that `heatmap` needs; layers and heads of its patterns count from 0."""

    @property
    def reads(self) -> Labelled: ...
    def pattern(self, kind: str) -> np.ndarray: ...
    def rows(self, kind: str) -> list[str]: ...
    def columns(self, kind: str) -> list[str]: ...
    def masked(self, kind: str) -> np.ndarray: ...


def heatmap(trace: TraceLike, kind: str, layer: int, head: int, **options: Unpack[PatternOptions]) -> Figure:
    """Draw one head of a trace; `kind` is "encoder", "decoder" or "cross", layer and head count from 1.

    Raises ValueError for a kind, layer or head that does not exist.
    """
    if kind not in KINDS:
        raise ValueError(f"There is no kind of attention {quoted(kind)}: choose one of {', '.join(KINDS)}.")
    patterns = trace.pattern(kind)
    for name, number, count in (("layer", layer, len(patterns)), ("head", head, patterns.shape[1])):
        if not 1 <= number <= count:
            raise ValueError(f"There is no {name} {number} of {kind} attention: choose one from 1 to {count}.")
    options.setdefault("masked", trace.masked(kind))
    if kind != "encoder":
        options.setdefault("reads", trace.reads.labels)
    spec = pattern_spec(patterns[layer - 1, head - 1], trace.rows(kind), trace.columns(kind), **options)
    name = f"{kind.capitalize()} attention, layer {layer}, head {head}"
    spec["layout"]["meta"] = f"{name}: {spec['layout']['meta']}"
    return _figure(spec, _paper(patterns[layer - 1, head - 1], trace.rows(kind), trace.columns(kind), options))


def pattern(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], **options: Unpack[PatternOptions]
) -> Figure:
    """Return the heatmap of `weights` [Q, K]; the weight itself is on hover, however the colour is scaled.

    `scale`: "fixed" (colours from 0 to `limit`), "row" (share of the row's largest) or "sqrt" (square
    root, 0 to 1). `name` is what a value is called. A sentence about the picture is in `layout.meta`.
    """
    return _figure(pattern_spec(weights, rows, columns, **options), _paper(weights, rows, columns, options))


def pattern_spec(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    scale: str = "fixed",
    name: str = "weight",
    limit: float = 1.0,
    **options: Unpack[FrameOptions],
) -> Spec:
    """Return the specification from which `pattern` makes a figure."""
    if scale not in SCALES:
        raise ValueError(f"There is no scale {quoted(scale)}: choose one of {', '.join(SCALES)}.")
    weights = np.asarray(weights, dtype=np.float32)
    frame = frame_of(weights, rows, columns, **options)
    visible = np.where(frame.masked, np.float32(np.nan), weights)
    top, value = (limit, "%{z:.3g}") if scale == "fixed" else (1.0, "%{customdata:.3g}")
    ticks = {v: f"{v:g}" for v in (0, top / 2, top)}
    matrix = {
        "type": "heatmap",
        "z": scaled(visible, scale),
        "zmin": 0,
        "zmax": top,
        "colorscale": _steps(frame.theme.sequential),
        "colorbar": colour_bar(frame, scale_title(scale, name, limit), ticks),
        "text": _ranks(visible),
        "hoverongaps": False,
        "hovertemplate": _hover(f"{_big(value)}, %{{text}} in its row"),
    }
    if scale != "fixed":
        matrix["customdata"] = visible
    return spec_in(frame, matrix, _sentence(visible, rows, columns, name))


def _figure(spec: Spec, paper: Callable[[str], str]) -> Figure:
    from headlight.charts.figure import Figure  # needs Plotly, unlike specifications and drawings

    figure = Figure(spec["data"], spec["layout"] | {"template": "none"})
    figure._paper = paper
    return figure


def _paper(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], options: Mapping[str, Any]
) -> Callable[[str], str]:
    """Return the function that draws a matrix for paper, under a title."""
    def draw(title: str) -> str:
        cells, masked, reads = np.asarray(weights, np.float32), options.get("masked"), options.get("reads") or None
        hidden = np.zeros(cells.shape, bool) if masked is None else np.asarray(masked, bool)
        colours = Colours(**{name: options[name] for name in ("scale", "name", "limit", "signed") if name in options})
        block = HeadBlock("", cells[None, None], rows, columns, hidden, reads)
        return patterns_svg([block], title=title, facts={}, colours=colours, theme=options.get("theme", "light"))

    return draw


def difference(
    change: np.ndarray, rows: Sequence[str], columns: Sequence[str], **options: Unpack[DifferenceOptions]
) -> Figure:
    """Return the heatmap of a difference of two patterns [Q, K]: blue less, grey the same, orange more.

    The colours reach from -`limit` to `limit`, by default the largest change.
    """
    spec = difference_spec(change, rows, columns, **options)
    limit = next(trace["zmax"] for trace in spec["data"] if trace.get("zmin", 0) < 0)  # not the mask's
    return _figure(spec, _paper(change, rows, columns, {"signed": True, **options, "limit": limit}))


def difference_spec(
    change: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    name: str = "weight",
    limit: float | None = None,
    **options: Unpack[FrameOptions],
) -> Spec:
    """Return the specification from which `difference` makes a figure."""
    change = np.asarray(change, dtype=np.float32)
    frame = frame_of(change, rows, columns, **options)
    visible = np.where(frame.masked, np.float32(np.nan), change)
    largest = float(np.nanmax(np.abs(visible), initial=0.0))
    limit = limit or largest or 1.0
    matrix = {
        "type": "heatmap",
        "z": visible,
        "zmin": -limit,
        "zmax": limit,
        "colorscale": _steps(frame.theme.diverging),
        "colorbar": colour_bar(
            frame,
            f"change in {name}, ±{limit:.2g}",
            {-limit: f"−{limit:.2g}", 0.0: "0", limit: f"+{limit:.2g}"},
        ),
        "hoverongaps": False,
        "hovertemplate": _hover(_big("%{z:+.3g}")),
    }
    return spec_in(frame, matrix, f"The largest change in {name} is {largest:.3g}.")


def frame_of(
    matrix: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    masked: np.ndarray | None = None,
    theme: str = "light",
    **texts: Unpack[FrameTexts],
) -> MatrixFrame:
    """Return the frame of a matrix [Q, K]; ValueError where the labels, the mask or the theme don't fit it."""
    if matrix.shape != (len(rows), len(columns)) or not matrix.size:
        raise ValueError(
            f"A picture of {len(rows)} rows and {len(columns)} columns needs a matrix of that shape with at "
            f"least one cell, but this one is {' x '.join(map(str, matrix.shape))}."
        )
    reads = texts.get("reads", ())
    mask = np.zeros(matrix.shape, bool) if masked is None else np.asarray(masked, bool)
    if mask.shape != matrix.shape or len(reads) not in (0, len(rows)):
        raise ValueError(
            f"The mask and the tokens read must fit the {len(rows)} rows and {len(columns)} columns of the "
            f"matrix, but the mask is {' x '.join(map(str, mask.shape))} and there are {len(reads)} tokens."
        )
    return MatrixFrame(rows, columns, mask, theme_named(theme), **texts)


def _steps(colours: Sequence[str]) -> list[list[object]]:
    """Return the colours evenly spaced from 0 to 1, as Plotly's script expects them."""
    return [[n / (len(colours) - 1), colour] for n, colour in enumerate(colours)]


def _ranks(weights: np.ndarray) -> np.ndarray:
    """Return the rank of each weight in its row, "1st" for the largest; equal weights share the better rank."""
    names = np.array(["", *map(ordinal, range(1, weights.shape[1] + 1))], dtype=object)
    ranks = [np.searchsorted(np.sort(-row), -row) + 1 for row in weights]
    return names[np.where(np.isnan(weights), 0, ranks)]


def _hover(text: str) -> str:
    return f"<b>%{{y}}</b> looks at <b>%{{x}}</b><br>{text}<extra></extra>"


def _big(value: str) -> str:
    return f'<b><span style="font-size:17px">{value}</span></b>'


def _sentence(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], name: str) -> str:
    if np.isnan(weights).all():
        return f"All {len(rows)} rows are masked."
    row, column = divmod(int(np.nanargmax(weights)), weights.shape[1])
    return (
        f"{len(rows)} rows by {len(columns)} columns; the largest {name} is {weights[row, column]:.3g}, "
        f"where {rows[row]} looks at {columns[column]}."
    )
