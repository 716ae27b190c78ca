"""The position bias that T5 adds to a score, against the distance from query to key.

Letters: H heads, N distances.
"""

import numpy as np

from headlight.charts.bare import SMALL_FONT_SIZE, over_distances
from headlight.charts.colours import OKABE_ITO, theme_named
from headlight.charts.figure import Figure
from headlight.charts.lines import DASHES


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
                "dash": DASHES[head // len(OKABE_ITO) % len(DASHES)],  # the next one after each round of the colours
                "shape": "hvh",
            },
            "hovertemplate": f"<b>%{{y:.3f}}</b> head {head + 1}, %{{x:,d}}<extra></extra>",
        }
        for head, curve in enumerate(values)
    ]
    layout = over_distances(look, "distance in tokens", distances.min(), distances.max())
    layout["legend"]["title"] = {"text": "head", "font": {"size": SMALL_FONT_SIZE, "color": look.muted}}
    layout["meta"] = (
        f"The bias of {len(values)} heads at distances from {distances.min():,} to {distances.max():,}: "
        f"from {values.min():.2f} to {values.max():.2f}."
    )
    return Figure(traces, layout)
