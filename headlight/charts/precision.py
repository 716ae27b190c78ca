"""Draw the magnitudes of gradients, with the ranges of the 16-bit types above them.

Letters: B bins, each from a power of two to the next.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from headlight.charts.bare import with_axes
from headlight.charts.colours import MORE_COLOUR, theme_named
from headlight.charts.figure import Figure


class Limits(NamedTuple):
    """The smallest positive numbers of a type, with fewer digits (subnormal) and with all, and its largest."""

    subnormal: float
    normal: float
    largest: float


TYPES = {
    "bfloat16": Limits(2.0**-133, 2.0**-126, (2 - 2.0**-7) * 2.0**127),
    "float16": Limits(2.0**-24, 2.0**-14, (2 - 2.0**-10) * 2.0**15),
}
AXIS_START, AXIS_END = 1e-42, 1e7  # the ends of the axis; bfloat16 goes on to 3e38


def magnitudes(spreads: Mapping[str, tuple[np.ndarray, np.ndarray]], theme: str = "light") -> Figure:
    """Return a curve for each of `spreads`, exponents [B] and shares [B], below the ranges of float16 and bfloat16.

    The pale part of a range holds its subnormal numbers. A sentence about the picture is in `layout.meta`.
    """
    look = theme_named(theme)
    top = 100 * max(float(shares.max()) for _, shares in spreads.values())
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": 2.0 ** (exponents + 0.5),
            "y": 100 * shares,
            "line": {"width": 2, "color": colour, "dash": dash},
            "hovertemplate": f"<b>%{{y:.1f}}\u00a0%</b> {name}, near %{{x:.1e}}<extra></extra>",
        }
        for (name, (exponents, shares)), colour, dash in zip(
            spreads.items(), (MORE_COLOUR, look.signed[0]), ("dash", "solid"), strict=True
        )
    ]
    layout = with_axes(look, "Share of the gradients, %", "magnitude", len(spreads))
    layout["height"] += 60
    layout["legend"] |= {"y": -0.21}
    layout["xaxis"] |= {
        "type": "log",
        "range": [np.log10(AXIS_START), np.log10(AXIS_END)],
        "tickvals": [10.0**exponent for exponent in range(-40, 1, 10)],
        "ticktext": [f"10<sup>−{-exponent}</sup>" if exponent else "1" for exponent in range(-40, 1, 10)],
        "showgrid": True,
    }
    layout["yaxis"] |= {"range": [0, 1.75 * top], "tickvals": [tick for tick in range(0, 101, 5) if tick <= top]}
    layout["annotations"], layout["meta"] = [], "Magnitudes of gradients: "
    for row, (name, (least, normal, largest)) in enumerate(TYPES.items()):
        y = (1.5 - 0.3 * row) * top
        for low, high, opacity in ((least, normal, 0.35), (normal, largest, 1.0)):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [low, min(high, AXIS_END)],
                    "y": [y, y],
                    "line": {"width": 8, "color": look.muted},
                    "opacity": opacity,
                    "showlegend": False,
                    "hovertemplate": f"{name}: smallest subnormal number {least:.1e}, smallest normal "
                    f"{normal:.1e}, largest {largest:.1e}<extra></extra>",
                }
            )
        layout["annotations"].append(
            {
                "x": np.log10(AXIS_END),
                "y": y,
                "text": name,
                "showarrow": False,
                "xanchor": "right",
                "yanchor": "bottom",
                "yshift": 4,
                "font": {"color": look.muted},
            }
        )
        layout["meta"] += f"{name} from {least:.1e} (normal from {normal:.1e}) to {largest:.1e}; "
    layout["meta"] += (
        "; ".join(f"{name} mostly near {2.0 ** (e[s.argmax()] + 0.5):.0e}" for name, (e, s) in spreads.items()) + "."
    )
    return Figure(traces, layout)
