"""Streamlit components that are made of the viewer's scripts and styles, and one that draws a Plotly chart."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly
import plotly.graph_objects as go
import streamlit as st

from headlight.charts import Spec
from headlight.language import ORIGINAL_LANGUAGE, current, using
from headlight.viewer.scripts import script, style, viewer_script

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def component(name: str, mount: str, *scripts: str, styles: tuple[str, ...] = ()) -> ComponentRenderer:
    """Return a component that `mount`, a function in the last of its own `scripts`, draws in the current language.

    `styles` come after the viewer's. Streamlit knows it as headlight_`name`, and in each further language as another
    one. The scripts share a scope with core.js before and streamlit.js after them.
    """

    @cache
    def in_language(language: str) -> ComponentRenderer:
        with using(language):
            return st.components.v2.component(
                f"headlight_{name}" if language == ORIGINAL_LANGUAGE else f"headlight_{name}_{language}",
                html='<div class="hl"></div>',
                css="".join(style(sheet) for sheet in ("viewer", *styles)),
                js=viewer_script(*scripts, "streamlit") + f"\nexport default given => component({mount}, given);\n",
            )

    in_language(ORIGINAL_LANGUAGE)  # before there is a session

    def render(**options: Any) -> Any:
        return in_language(current())(**options)

    return render


# The one that the plotly package brings, served by server/endpoints.py.
SCRIPT = f"plotly/{plotly.__version__}.js"

_PLOT = st.components.v2.component(
    "headlight_plot", html='<div class="plot"></div>', js=script("plot"), isolate_styles=False
)


def plot(figure: go.Figure | Spec, *, key: str) -> None:
    """Draw the figure as wide as its container; `layout.meta` says in words what it shows.

    It is changed in place: new data takes a third of the time of a new chart.
    """
    meta = figure.layout.meta if isinstance(figure, go.Figure) else figure["layout"]["meta"]
    head = json.dumps({"script": SCRIPT, "alt": meta})
    _PLOT(data=f'{head[:-1]}, "figure": {figure_json(figure)}}}'.encode(), key=key)


def figure_json(figure: go.Figure | Spec) -> str:
    """Return the figure as the browser reads it: numbers as bytes, which are exact and shorter than digits."""
    return figure.to_json() if isinstance(figure, go.Figure) else json.dumps(figure, default=_array)


def _array(array: np.ndarray) -> Any:
    if array.dtype == object:
        return array.tolist()
    data = base64.b64encode(array.tobytes()).decode("ascii")
    shape = {"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {}
    return {"dtype": array.dtype.str[1:], "bdata": data} | shape
