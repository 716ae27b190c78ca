"""Draw one curve over the band that several others span.

Letters: P points, N other curves.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headlight.charts.bare import with_axes
from headlight.charts.colours import theme_named
from headlight.charts.figure import Figure


def beside_spread(
    x: Sequence[float],
    own: tuple[str, Sequence[float]],
    baselines: tuple[str, np.ndarray],
    what: str,
    along: str,
    *,
    at: float | None = None,
    theme: str = "light",
) -> Figure:
    """Draw a curve and, as thin lines in a band from their minimum to their maximum, several others to compare it with.

    `own` is a name and its curve [P]; `baselines` a name and their curves [N, P]. `at` marks a position on the x axis.
    A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    (name, values), (baseline_name, draws) = own, baselines
    curve, grey = np.asarray(values, np.float32), look.muted
    traces: list[dict[str, Any]] = []
    if len(draws):
        edge = {"type": "scatter", "mode": "lines", "x": list(x), "line": {"width": 0}, "hoverinfo": "skip"}
        band = {"fill": "tonexty", "fillcolor": _translucent(grey), "name": baseline_name, "showlegend": False}
        traces += [edge | {"y": draws.min(0).astype(np.float32), "showlegend": False}]
        traces += [edge | {"y": draws.max(0).astype(np.float32)} | band]
        traces += [
            {
                "type": "scatter",
                "mode": "lines",
                "name": baseline_name,
                "x": list(x),
                "y": draw.astype(np.float32),
                "line": {"width": 1, "color": grey, "dash": "dot"},
                "showlegend": number == 0,
                "hovertemplate": f"<b>%{{y:.3g}}</b> {baseline_name}, {along} %{{x}}<extra></extra>",
            }
            for number, draw in enumerate(draws)
        ]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": list(x),
            "y": curve,
            "line": {"width": 2, "color": look.accent},
            "marker": {"size": 6},
            "hovertemplate": f"<b>%{{y:.3g}}</b> {name}, {along} %{{x}}<extra></extra>",
        }
    )
    summary = f"{what}, along {along}: {name} from {curve[0]:.3g} to {curve[-1]:.3g}"
    middle = len(x) // 2
    summary += f", at {x[middle]:g} {curve[middle]:.3g}"
    if len(draws):
        lowest, highest = draws[:, middle].min(), draws[:, middle].max()
        summary += f"; {baseline_name} at {x[middle]:g} from {lowest:.3g} to {highest:.3g}"
    layout = with_axes(look, what, along, 2) | {"meta": f"{summary}."}
    layout["yaxis"]["rangemode"] = "tozero"
    figure = Figure(traces, layout)
    if at is not None:
        figure.add_vline(at, line={"width": 1.5, "color": look.muted, "dash": "dot"})
    return figure


def _translucent(colour: str) -> str:
    """Return a colour with an opacity of 14 %."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"
