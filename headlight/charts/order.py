"""Draw a sentence's vectors: the same words in two orders, and matrices with their sum.

Letters: S tokens, D = d_model. All lengths are in pixels.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, bare, flat_bar, note, quiet_axis
from headlight.charts.colours import Theme, theme_named
from headlight.charts.figure import Figure
from headlight.charts.labels import FONT_SIZE, cut, escaped, widest
from headlight.graphemes import isolated, right_to_left

_WIDTH_PIXELS = 440  # at which the labels fit
_STRIP_HEIGHT, _LINES_HEIGHT = 24, 52  # heights of a row of vectors, and of the lines between
_GAP_CELLS = 2  # cells between two words
_MIN_LABELLED_WIDTH = 12  # pixels per word; narrower words have no label
_MAX_LABEL_WIDTH = 90


def reordered(
    first: np.ndarray,
    second: np.ndarray,
    labels: tuple[Sequence[str], Sequence[str]],
    order: Sequence[int],
    *,
    limit: float,
    theme: str = "light",
) -> Figure:
    """Return the vectors of two sentences, [S, numbers] each, as strips under each other; lines join the same word.

    `order` says where in the first sentence each token of the second stands. Colours reach from -`limit` to `limit`.
    """
    look = theme_named(theme)
    n_tokens, numbers = first.shape
    assert second.shape == first.shape and len(order) == n_tokens
    pitch = numbers + _GAP_CELLS
    centre = np.arange(n_tokens) * pitch + numbers / 2
    bottom = _STRIP_HEIGHT + _LINES_HEIGHT
    traces: list[dict[str, Any]] = [
        _strip(first, labels[0], (0, _STRIP_HEIGHT), limit, look) | {"xaxis": "x2"},
        _strip(second, labels[1], (bottom, bottom + _STRIP_HEIGHT), limit, look),
    ]
    places = np.asarray(order)
    moved = places != np.arange(n_tokens)
    for chosen, colour, thick in ((~moved, look.line, 1.5), (moved, look.accent, 2)):
        x, y = _joins(centre[places[chosen]], centre[chosen], _STRIP_HEIGHT + 4, bottom - 4)
        line = {"width": thick, "color": colour}
        traces.append({"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "hoverinfo": "skip"})
    room = (_WIDTH_PIXELS - 16) / n_tokens
    names = [[cut(name, _MAX_LABEL_WIDTH) for name in side] if room >= _MIN_LABELLED_WIDTH else [] for side in labels]
    leftwards = right_to_left(labels[0])
    level = widest(names[0]) <= room - 4
    margin = 26 if level else round(0.71 * widest(names[0])) + 18
    right = 8 if level else round(0.71 * max(widest(side[:1] if leftwards else side[-1:]) for side in names))
    edges = [0, n_tokens * pitch - _GAP_CELLS]
    axis = {
        "range": edges[::-1] if leftwards else edges,
        "tickvals": centre,
        "ticklabelstandoff": 4,
        "tickfont": {"size": FONT_SIZE, "color": look.text},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
    }
    summary = f"{n_tokens} tokens, too narrow to be named: point at one"
    unnamed = [] if names[0] else [note(summary, look.muted, x=0, y=1, yanchor="bottom")]
    above, below = ([escaped(isolated(name)) for name in side] or [""] * n_tokens for side in names)
    layout = bare(look) | {
        "height": bottom + _STRIP_HEIGHT + 2 * margin,
        "margin": {"l": 8, "r": right, "t": margin, "b": margin, "autoexpand": False},
        "hovermode": "closest",
        "xaxis": axis | {"ticktext": below, "tickangle": 0 if level else 45},
        "xaxis2": axis | {"ticktext": above, "tickangle": 0 if level else -45, "overlaying": "x", "side": "top"},
        "annotations": unnamed,
        "yaxis": {"visible": False, "range": [bottom + _STRIP_HEIGHT, 0], "fixedrange": True},
        "meta": f"{n_tokens} tokens, of which {int(moved.sum())} stand elsewhere in the second sentence.",
    }
    return Figure(traces, layout)


def _strip(
    vectors: np.ndarray, names: Sequence[str], edges: tuple[int, int], limit: float, look: Theme
) -> dict[str, Any]:
    """Return the vectors of a sentence beside each other, as one row of a heatmap with gaps."""
    n_tokens, numbers = vectors.shape
    cells = np.full((n_tokens, numbers + _GAP_CELLS), np.nan, np.float32)
    cells[:, :numbers] = vectors
    text = [f"{escaped(isolated(name))}, number {i + 1}" for name in names for i in range(numbers + _GAP_CELLS)]
    return {
        "type": "heatmap",
        "z": cells.reshape(1, -1),
        "x": np.arange(cells.size + 1),
        "y": list(edges),
        "text": [text],
        "zmin": -limit,
        "zmax": limit,
        "colorscale": look.diverging,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": "<b>%{z:.3f}</b> %{text}<extra></extra>",
    }


def _joins(above: np.ndarray, below: np.ndarray, top: float, bottom: float) -> tuple[np.ndarray, np.ndarray]:
    """Return curves from each x above to its x below, vertical at both ends, as one line with gaps."""
    t = np.linspace(0, 1, 25)
    ease = 3 * t**2 - 2 * t**3
    x = above[:, None] + (below - above)[:, None] * ease
    y = np.broadcast_to(top + (bottom - top) * t, x.shape)
    gap = np.full((len(above), 1), np.nan)
    return np.hstack([x, gap]).ravel().astype(np.float32), np.hstack([y, gap]).ravel().astype(np.float32)


_MAX_ROW_HEIGHT, _MAX_GRID_HEIGHT = 22, 640


def sums(parts: Mapping[str, np.ndarray], labels: Sequence[str], *, theme: str = "light") -> Figure:
    """Draw matrices of the same tokens, [S, D] each, side by side under their names, with one colour scale.

    The scale ends at the 99th percentile; the bar shows whether there are larger numbers.
    """
    look = theme_named(theme)
    n_tokens, width = next(iter(parts.values())).shape
    sizes = np.abs(np.concatenate([values.ravel() for values in parts.values()]))
    limit = float(np.percentile(sizes, 99)) or float(sizes.max()) or 1.0
    row = min(_MAX_ROW_HEIGHT, _MAX_GRID_HEIGHT / n_tokens)
    cut_names = [cut(label, 120) for label in labels]
    left, top, bottom = round(widest(cut_names)) + 22, 30, 58
    names = [escaped(isolated(name)) for name in cut_names]
    step = math.ceil(SMALL_FONT_SIZE / row)
    layout = bare(look) | {
        "height": round(row * n_tokens + top + bottom),
        "margin": {"l": left, "r": 8, "t": top, "b": bottom, "autoexpand": False},
        "hovermode": "closest",
        "yaxis": quiet_axis(look)
        | {
            "range": [n_tokens - 0.5, -0.5],
            "tickvals": list(range(0, n_tokens, step)),
            "ticktext": names[::step],
            "labelalias": {str(i): name for i, name in enumerate(names)},  # on hover, of those between
            "tickfont": {"size": FONT_SIZE if step == 1 else SMALL_FONT_SIZE, "color": look.text},
            "showgrid": False,
            "ticklabelstandoff": 6,
            "fixedrange": True,
        },
        "coloraxis": {
            "cmin": -limit,
            "cmax": limit,
            "colorscale": look.diverging,
            "colorbar": flat_bar(look, limit, round(row * n_tokens), bool((sizes > limit).any())),
        },
        "annotations": [],
        "meta": "; ".join(f"{name}: from {v.min():.3g} to {v.max():.3g}" for name, v in parts.items()) + ".",
    }
    traces = []
    gap = 0.05
    share = (1 - gap * (len(parts) - 1)) / len(parts)
    for number, (name, values) in enumerate(parts.items()):
        axis, start = f"x{number + 1 if number else ''}", number * (share + gap)
        traces.append(
            {
                "type": "heatmap",
                "z": np.asarray(values, np.float32),
                "xaxis": axis,
                "yaxis": "y",
                "coloraxis": "coloraxis",
                "hovertemplate": "<b>%{z:.3f}</b> %{y}, dimension %{x}<extra></extra>",
            }
        )
        layout[f"xaxis{number + 1 if number else ''}"] = quiet_axis(look) | {
            "domain": [start, start + share],
            "range": [-0.5, width - 0.5],
            "nticks": 5,
            "showgrid": False,
            "anchor": "y",
        }
        layout["annotations"].append(note(name, look.text, x=start, y=1, yshift=6, yanchor="bottom", size=FONT_SIZE))
    return Figure(traces, layout)
