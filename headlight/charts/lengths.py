"""Draw the sentence lengths of a corpus, source and target over each other."""

from collections.abc import Sequence

import numpy as np

from headlight.charts.bare import bare, quiet_axis
from headlight.charts.colours import OKABE_ITO, theme_named
from headlight.charts.figure import Figure
from headlight.formatting import percent

_BAR_COUNT = 30
_WIDTH_PIXELS, _HEIGHT_PIXELS = 300, 132
_TARGET_COLOURS = {"light": OKABE_ITO[0], "dark": OKABE_ITO[1]}  # to contrast with the accent, blue or orange


def lengths(source: Sequence[int], target: Sequence[int], theme: str = "light") -> Figure:
    """Return two histograms with common bars; the longest hundredth of the sentences share the last one."""
    look = theme_named(theme)
    both = np.concatenate([np.asarray(source), np.asarray(target)])
    last = max(int(np.quantile(both, 0.99, method="higher")), 1)
    size = max(1, -(-last // _BAR_COUNT))
    edges = np.arange(0, last + size + 1, size)
    middles = edges[:-1] + (size - 1) / 2
    figure = Figure(layout=bare(look))
    hover = [f"{low} to {low + size - 1}" if size > 1 else f"{low}" for low in edges[:-1]]
    shares = [_shares(values, edges) for values in (source, target)]
    figure.add_bar(
        x=middles,
        y=shares[0],
        name="source",
        marker={"color": look.accent, "opacity": 0.75, "line": {"width": 0}},
        customdata=hover,
        hovertext=[percent(share, 1) for share in shares[0]],
        hovertemplate="%{hovertext} of the source sentences<br>have %{customdata} tokens<extra></extra>",
    )
    figure.add_scatter(
        x=middles,
        y=shares[1],
        name="target",
        mode="lines",
        line={"color": _TARGET_COLOURS[theme], "width": 2, "shape": "hvh"},
        customdata=hover,
        hovertext=[percent(share, 1) for share in shares[1]],
        hovertemplate="%{hovertext} of the target sentences<br>have %{customdata} tokens<extra></extra>",
    )
    means = [float(np.mean(values)) if len(values) else 0.0 for values in (source, target)]
    return figure.update_layout(
        width=_WIDTH_PIXELS,
        height=_HEIGHT_PIXELS,
        margin={"l": 4, "r": 4, "t": 22, "b": 34, "pad": 0},
        bargap=0.08,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12, "color": look.muted}},
        xaxis=quiet_axis(look)
        | {"title": {"text": "tokens a sentence", "font": {"size": 12, "color": look.muted}}, "fixedrange": True},
        yaxis=quiet_axis(look) | {"showticklabels": False, "fixedrange": True},
        meta=f"Sentence lengths: {means[0]:.1f} tokens on average in the source, {means[1]:.1f} in the target.",
    )


def _shares(values: Sequence[int], edges: np.ndarray) -> np.ndarray:
    """Return the share of the values between each pair of edges."""
    counts, _ = np.histogram(np.minimum(values, edges[-1] - 1e-9), edges)
    shares: np.ndarray = counts / max(len(values), 1)
    return shares
