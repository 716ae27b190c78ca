"""The numbers of a weight as a histogram."""

import numpy as np

from headlight.charts.bare import bare, quiet_axis
from headlight.charts.colours import theme_named
from headlight.charts.figure import Figure
from headlight.formatting import minus

_HEIGHT_PIXELS = 196


def weight_histogram(
    edges: np.ndarray, counts: np.ndarray, below: int = 0, above: int = 0, theme: str = "light"
) -> Figure:
    """Draw bars between `edges` [bars + 1]; the outer two also hold the `below` and `above` numbers further out.

    A sentence about the picture is in `layout.meta`. Raises ValueError unless there is one edge more than bars.
    """
    if len(edges) != len(counts) + 1:
        raise ValueError(f"{len(counts)} bars need {len(counts) + 1} edges, but there are {len(edges)}.")
    look = theme_named(theme)
    figure = Figure(layout=bare(look))
    hover = [f"from {_written(low)} to {_written(high)}" for low, high in zip(edges, edges[1:], strict=False)]
    if below:
        hover[0] = f"up to {_written(edges[1])}"
    if above:
        hover[-1] = f"from {_written(edges[-2])} on"
    middles = (edges[:-1] + edges[1:]) / 2
    zero = (edges[:-1] <= 0) & (edges[1:] > 0)
    figure.add_bar(
        x=middles,
        y=counts,
        marker={"color": look.accent, "opacity": np.where(zero, 1.0, 0.78), "line": {"width": 0}},
        customdata=hover,
        hovertemplate="<b>%{y:,}</b> numbers<br>%{customdata}<extra></extra>",
    )
    ticks = np.linspace(edges[0], edges[-1], 5)
    ends = ("≤ " if below else "", "", "", "", "≥ " if above else "")
    most = int(np.argmax(counts))
    figure.update_layout(
        height=_HEIGHT_PIXELS,
        margin={"l": 22, "r": 22, "t": 6, "b": 26},
        bargap=0.08,
        xaxis=quiet_axis(look)
        | {
            "tickvals": ticks,
            "ticktext": [end + _written(tick) for end, tick in zip(ends, ticks, strict=True)],
            "showline": True,
            "linecolor": look.line,
            "fixedrange": True,
            "ticklabeloverflow": "allow",
            "range": [edges[0], edges[-1]],
        },
        yaxis=quiet_axis(look) | {"visible": False, "fixedrange": True},
        meta=f"Histogram of {int(np.sum(counts)):,} numbers; most, {int(counts[most]):,}, lie {hover[most]}.",
    )
    return figure


def _written(value: float) -> str:
    return minus(f"{0.0 if abs(value) < 1e-12 else value:.3g}")
