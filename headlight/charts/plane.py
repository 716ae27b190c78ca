"""Draw words as vectors in a plane, from the vector 0, each with its name at its end.

Letters: N words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, bare, quiet_axis
from headlight.charts.colours import theme_named
from headlight.charts.figure import Figure
from headlight.charts.labels import cut, escaped

_MAX_NAME_PIXELS = 96
_MARKS = (("circle", "solid"), ("diamond-open", "dash"))  # for each kind of vectors: its mark and its line
_MARGIN_SHARE = 0.22  # of the picture's width on each side, for the names


def words_in_plane(
    names: Sequence[str],
    kinds: Mapping[str, np.ndarray],
    origin: np.ndarray,
    what: str,
    *,
    theme: str = "light",
) -> Figure:
    """Return a vector for each word and kind: `kinds` has the end points [N, 2] by name, at most two kinds.

    `origin` [2] is where the vector 0 lies. A word has one colour, a kind one mark and line. Both axes have the same
    scale. A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    traces: list[dict[str, Any]] = []
    for (kind, points), (mark, dash) in zip(kinds.items(), _MARKS, strict=False):
        for number, (name, point) in enumerate(zip(names, points, strict=True)):
            colour = look.heads[number % len(look.heads)]
            side = "right" if point[0] >= origin[0] else "left"
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers+text",
                    "showlegend": False,
                    "x": [float(origin[0]), float(point[0])],
                    "y": [float(origin[1]), float(point[1])],
                    "text": ["", escaped(cut(name, _MAX_NAME_PIXELS))],
                    "textposition": f"middle {side}",
                    "textfont": {"color": look.text, "size": 13},
                    "cliponaxis": False,
                    "line": {"width": 1.5, "color": colour, "dash": dash},
                    "marker": {"size": [0, 9], "symbol": mark, "color": colour, "line": {"width": 2, "color": colour}},
                    "hovertemplate": f"<b>{escaped(name)}</b>, {kind}<br>%{{x:.2f}}, %{{y:.2f}}<extra></extra>",
                }
            )
        if len(kinds) > 1:
            legend = {"size": 9, "symbol": mark, "color": look.muted, "line": {"width": 2, "color": look.muted}}
            line = {"width": 1.5, "color": look.muted, "dash": dash}
            traces.append(
                {"type": "scatter", "mode": "lines+markers", "name": kind, "x": [None], "y": [None]}
                | {"marker": legend, "line": line}
            )
    ends = np.vstack([*kinds.values(), origin])
    low, high = ends.min(0), ends.max(0)
    room = _MARGIN_SHARE * (float((high - low).max()) or 1.0)
    axis = quiet_axis(look) | {"fixedrange": True, "showticklabels": False}
    small = {"size": SMALL_FONT_SIZE, "color": look.muted}
    layout = bare(look) | {
        "height": 320,
        "margin": {"l": 8, "r": 8, "t": 28, "b": 40, "autoexpand": False},
        "hovermode": "closest",
        "showlegend": len(kinds) > 1,
        "legend": {"orientation": "h", "x": 0, "y": -0.02, "yanchor": "top", "font": small, "itemclick": False},
        "title": {"text": what, "x": 0, "xanchor": "left", "font": {"size": 14, "color": look.text}},
        "xaxis": axis | {"range": [float(low[0]) - room, float(high[0]) + room]},
        "yaxis": axis
        | {"range": [float(low[1]) - room / 2, float(high[1]) + room / 2], "scaleanchor": "x", "scaleratio": 1},
        "meta": f"{what}: {', '.join(names)}. "
        + " ".join(f"{_describe_furthest(names, points, kind)}" for kind, points in kinds.items() if len(names) > 1),
    }
    return Figure(traces, layout)


def _describe_furthest(names: Sequence[str], points: np.ndarray, kind: str) -> str:
    """Say which two words are furthest apart in the plane."""
    between = np.linalg.norm(points[:, None] - points[None], axis=-1)
    first, second = divmod(int(between.argmax()), len(names))
    if first == second:
        return f"Every {kind} lies at the same point."
    return f"Furthest apart as {kind}: {names[first]} and {names[second]}."
