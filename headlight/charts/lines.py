"""A few named curves over one axis, told apart by colour and dash.

Letters: N points of a curve.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, with_axes
from headlight.charts.colours import theme_named
from headlight.charts.figure import Figure
from headlight.language import gettext, localized

DASHES = ("solid", "dash", "dot", "dashdot")


class Curve(NamedTuple):
    name: str
    x: Sequence[float] | Sequence[str]  # [N]
    y: np.ndarray  # [N]


def _ends(curve: Curve) -> str:
    first, last = (localized(f"{curve.y[at]:.3g}") for at in (0, -1))
    return gettext("{name} from {first} to {last}", name=curve.name, first=first, last=last)


def lines(
    curves: Sequence[Curve],
    what: str,
    along: str,
    *,
    logarithmic: str = "",
    at: tuple[float, str] | None = None,
    theme: str = "light",
) -> Figure:
    """Draw `curves` over an axis: `what` is the title of the values, `along` that of the axis.

    `at` marks a place on the x axis with a line and a word. A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines+markers" if len(curve.y) <= 20 else "lines",
            "name": curve.name,
            "x": list(curve.x),
            "y": np.asarray(curve.y, np.float32),
            "line": {"width": 2, "color": look.heads[i % len(look.heads)], "dash": DASHES[i % len(DASHES)]},
            "hovertemplate": f"<b>%{{y:.3g}}</b> {curve.name}, {along} %{{x}}<extra></extra>",
        }
        for i, curve in enumerate(curves)
    ]
    small = {"size": SMALL_FONT_SIZE, "color": look.muted}
    layout = with_axes(look, what, along, len(curves))
    for axis in "xy":
        if axis in logarithmic:
            scale: dict[str, Any] = {"type": "log", "dtick": 1, "exponentformat": "power"}
        else:
            scale = {"rangemode": "tozero"} if axis == "y" else {}
        layout[f"{axis}axis"] |= scale
    layout["meta"] = gettext(
        "{what}, along {axis}: {curves}.", what=what, axis=along, curves="; ".join(map(_ends, curves))
    )
    figure = Figure(traces, layout)
    if at is not None:
        position, word = at
        figure.add_vline(position, line={"width": 1.5, "color": look.muted, "dash": "dot"})
        # On a logarithmic axis, Plotly takes the value for a line, but its logarithm for an annotation.
        across = np.log10(position) if "x" in logarithmic else position
        figure.add_annotation(x=across, y=1, yref="paper", text=word, font=small, showarrow=False, xanchor="left")
    return figure
