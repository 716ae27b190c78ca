"""Draw the effect of dividing the scores by √d_head, against d_head: their variance, or the largest weight of a row.

Letters: N widths.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headlight.charts.bare import with_axes
from headlight.charts.colours import MORE_COLOUR, theme_named
from headlight.charts.figure import Figure

CURVE_NAMES = ("as they are", "divided")


def against_width(
    widths: Sequence[int],
    values: np.ndarray,
    own: tuple[int, Sequence[float]],
    what: str,
    *,
    logarithmic: bool = False,
    theme: str = "light",
) -> Figure:
    """Return two lines, `values` [2, N], of random scores as they are and divided, at the `widths` [N].

    `own` is a model's head: its width and the same two numbers. A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    d_head, marks = own
    traces: list[dict[str, Any]] = []
    for name, curve, mark, colour, dash in zip(
        CURVE_NAMES, values, marks, (MORE_COLOUR, look.signed[0]), ("dash", "solid"), strict=True
    ):
        traces += [
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": np.asarray(widths, np.int32),
                "y": curve.astype(np.float32),
                "line": {"width": 2, "color": colour, "dash": dash},
                "hovertemplate": f"<b>%{{y:.3g}}</b> {name}, width %{{x}}<extra></extra>",
            },
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"this head, {name}",
                "showlegend": False,
                "x": [d_head],
                "y": [mark],
                "marker": {
                    "size": 12,
                    "color": colour,
                    "symbol": "diamond",
                    "line": {"width": 1.5, "color": look.text},
                },
                "hovertemplate": f"<b>%{{y:.3g}}</b> this head, {name}<extra></extra>",
            },
        ]
    layout = with_axes(look, what, "width of a head, d_head", len(CURVE_NAMES))
    layout["xaxis"] |= {"type": "log", "tickvals": list(widths), "ticktext": [str(width) for width in widths]}
    layout["yaxis"] |= {"type": "log", "dtick": 1} if logarithmic else {"range": [0, 1.02], "nticks": 6}
    layout["meta"] = (
        f"{what} of random scores at widths {widths[0]} to {widths[-1]}: as they are from {values[0, 0]:.2g} "
        f"to {values[0, -1]:.2g}, divided from {values[1, 0]:.2g} to {values[1, -1]:.2g}. This head, of width "
        f"{d_head}: {marks[0]:.2g} and {marks[1]:.2g}."
    )
    return Figure(traces, layout)
