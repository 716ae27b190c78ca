"""A Plotly figure; only the charts that return one import this module, since Plotly is optional."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headlight.charts.typeset import save_picture
from transformer.extras import require_package
from transformer.quoting import short

require_package("plotly", "A figure", "charts")
import plotly.graph_objects as go  # noqa: E402


class Figure(go.Figure):
    """A Plotly figure for the screen; `savefig` writes Headlight's own drawing of it for paper, if there is one."""

    _paper: Callable[[str], str] | None = None  # returns the drawing for paper as SVG, under a title

    def savefig(self, path: str | Path, title: str | None = None) -> None:
        """Write the drawing as .svg, .pdf or .png, under `title`, with its fonts inside; it needs no browser.

        The drawing has the figure's matrix, tokens and colours, but no later changes to the figure. Raises ValueError
        for another suffix, and for a figure that has no drawing for paper.
        """
        if self._paper is None:
            raise ValueError(
                f"{short(path)} is not written: only heatmap, pattern and difference have a drawing for paper. Save "
                'this figure as a page with write_html("figure.html"), or take a picture of it on screen.'
            )
        heading = (self.layout.meta or "Attention") if title is None else title
        draw = self._paper
        save_picture(path, lambda: draw(heading), heading)
