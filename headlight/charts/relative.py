"""The position bias that T5 adds to a score, against the distance from query to key.

Letters: H heads, N distances.
"""

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, bare, quiet_axis
from headlight.charts.colours import OKABE_ITO, theme_named
from headlight.charts.figure import Figure

_DASHES = ("solid", "dash", "dot", "dashdot")  # the next one after each round of the colours


def biases(distances: np.ndarray, values: np.ndarray, *, theme: str = "light") -> Figure:
    """Return a curve for each head: `values` [H, N] at the whole `distances` [N], below 0 for keys that came before.

    Distances that share a bias make a step. A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"{head + 1}",
            "x": distances.astype(np.int32),
            "y": curve.astype(np.float32),
            "line": {
                "width": 1.8,
                "color": OKABE_ITO[head % len(OKABE_ITO)],
                "dash": _DASHES[head // len(OKABE_ITO) % len(_DASHES)],
                "shape": "hvh",
            },
            "hovertemplate": f"<b>%{{y:.3f}}</b> head {head + 1}, %{{x:,d}}<extra></extra>",
        }
        for head, curve in enumerate(values)
    ]
    small = {"size": SMALL_FONT_SIZE, "color": look.muted}
    title = {"text": "head", "font": small}
    legend = {"orientation": "h", "x": 1, "xanchor": "right", "y": -0.24, "yanchor": "top", "itemclick": False}
    layout = bare(look) | {
        "height": 270,
        "margin": {"l": 40, "r": 8, "t": 8, "b": 70, "autoexpand": False},
        "hovermode": "closest",
        "showlegend": True,
        "legend": legend | {"itemdoubleclick": False, "title": title},
        "xaxis": quiet_axis(look)
        | {
            "range": [distances.min() - 0.5, distances.max() + 0.5],
            "tickformat": ",d",
            "nticks": 7,
            "fixedrange": True,
            "title": {"text": "distance in tokens", "standoff": 6, "font": small},
        },
        "yaxis": quiet_axis(look) | {"showgrid": True, "nticks": 5, "fixedrange": True, "tickformat": ".2~f"},
        "meta": f"The bias of {len(values)} heads at distances from {distances.min():,} to {distances.max():,}: "
        f"from {values.min():.2f} to {values.max():.2f}.",
    }
    return Figure(traces, layout)
