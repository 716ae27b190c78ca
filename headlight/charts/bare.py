"""Shared parts of figures without a grid of tokens: bare axes, muted numbers, notes."""

from typing import Any

from headlight.charts.colours import Theme
from headlight.charts.frame import FONT

NOTE_FONT_SIZE, SMALL_FONT_SIZE = 13, 12  # of words beside a picture, and of the numbers at its axes


def bare(look: Theme) -> dict[str, Any]:
    font = {"family": FONT, "size": NOTE_FONT_SIZE, "color": look.text}
    transparent = "rgba(0,0,0,0)"
    return {
        "template": "none",
        "paper_bgcolor": transparent,
        "plot_bgcolor": transparent,
        "font": font,
        "hoverlabel": {"bgcolor": look.card, "bordercolor": look.line, "align": "left", "font": font},
        "showlegend": False,
    }


def quiet_axis(look: Theme) -> dict[str, Any]:
    """Return an axis of muted numbers, without a line."""
    return {
        "tickfont": {"size": SMALL_FONT_SIZE, "color": look.muted},
        "ticks": "",
        "zeroline": False,
        "showline": False,
        "gridcolor": look.line,
        "gridwidth": 1,
        "showgrid": False,
        "separatethousands": True,
    }


def with_axes(look: Theme, what: str, along: str, names: int) -> dict[str, Any]:
    """Return the layout of curves: `what` as the title, `along` at the x axis, and room for `names` names below."""
    small = {"size": SMALL_FONT_SIZE, "color": look.muted}
    below = 20 * names  # one name under the other where it is narrow
    return bare(look) | {
        "height": 256 + below,
        "margin": {"l": 56, "r": 12, "t": 32, "b": 48 + below, "autoexpand": False},
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": -0.27, "yanchor": "top", "font": small, "itemclick": False},
        "title": {"text": what, "x": 0, "xanchor": "left", "font": {"size": 14, "color": look.text}},
        "xaxis": quiet_axis(look) | {"fixedrange": True, "title": {"text": along, "standoff": 4, "font": small}},
        "yaxis": quiet_axis(look) | {"showgrid": True, "fixedrange": True},
    }


def over_distances(look: Theme, along: str, first: int, last: int) -> dict[str, Any]:
    """Return the layout of curves over the distances from `first` to `last`, with `along` at the x axis."""
    small = {"size": SMALL_FONT_SIZE, "color": look.muted}
    axis = quiet_axis(look) | {"fixedrange": True}
    return bare(look) | {
        "height": 260,
        "margin": {"l": 40, "r": 8, "t": 8, "b": 68, "autoexpand": False},
        "hovermode": "closest",
        "showlegend": True,
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": -0.22, "yanchor": "top"}
        | {"itemclick": False, "itemdoubleclick": False},
        "xaxis": axis
        | {"range": [first - 0.5, last + 0.5], "tickformat": ",d", "nticks": 7}
        | {"title": {"text": along, "standoff": 6, "font": small}},
        "yaxis": axis | {"showgrid": True, "nticks": 5, "tickformat": ".2~f"},
    }


def note(text: str, colour: str, size: int = NOTE_FONT_SIZE, **position: Any) -> dict[str, Any]:
    font = {"size": size, "color": colour}
    fixed = {"text": text, "font": font, "showarrow": False, "xref": "paper", "yref": "paper", "xanchor": "left"}
    return fixed | position


def flat_bar(look: Theme, limit: float, height: int, beyond: bool = False) -> dict[str, Any]:
    """Return a slim bar under a picture of that `height`; `beyond` says that there are numbers outside of ±`limit`."""
    low, high = ("≤ ", "≥ ") if beyond else ("", "")
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": -24 / height,
        "yanchor": "top",
        "len": 170,
        "lenmode": "pixels",
        "thickness": 8,
        "xpad": 0,
        "ypad": 2,
        "outlinewidth": 0,
        "tickvals": [-limit, 0, limit],
        "ticktext": [f"{low}−{limit:.3g}", "0", f"{high}{limit:.3g}"],
        "tickfont": {"size": SMALL_FONT_SIZE, "color": look.muted},
        "ticks": "",
    }
