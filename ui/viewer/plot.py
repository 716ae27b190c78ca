"""A Plotly chart that is changed in place: choosing another head takes a third of the time of a new chart."""

from __future__ import annotations

import base64
import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import plotly
import plotly.graph_objects as go
import streamlit as st

from transformer.charts import Spec
from ui.viewer.component import script

# Streamlit serves this folder at app/static/. The script is the one that the plotly package brings.
STATIC = Path(__file__).parents[2] / "static"

# As a bold line of Streamlit's own.
_STYLE = """
.plot-title { margin-bottom: 1rem; line-height: 1.6; }
.plot-title:empty { display: none; }
.plot-title span { margin-left: 0.6em; color: var(--st-gray-text-color, gray); }
"""

_PLOT = st.components.v2.component(
    "headlight_plot", html='<div class="plot"></div>', css=_STYLE, js=script("shared", "plot"), isolate_styles=False
)


class Shows(TypedDict):
    """One head of the overview beside: that another is chosen may be drawn before the page answers."""

    kind: str
    scale: str
    place: tuple[int, int]  # layer and head, from 0
    shape: tuple[int, int]  # [Q, K]


def plot(
    figure: go.Figure | Spec, *, key: str, title: tuple[str, str] | None = None, shows: Shows | None = None
) -> None:
    """The figure as wide as its place, under a title in bold and grey; `layout.meta` says in words what it shows."""
    meta = figure.layout.meta if isinstance(figure, go.Figure) else figure["layout"]["meta"]
    given = {"script": f"app/static/{_served()}", "alt": meta, "title": title, "shows": shows}
    head = json.dumps(given)
    _PLOT(data=f'{head[:-1]}, "figure": {figure_json(figure)}}}'.encode(), key=key)


def figure_json(figure: go.Figure | Spec) -> str:
    """The figure as the browser reads it: numbers as bytes, which are exact and shorter than digits."""
    return figure.to_json() if isinstance(figure, go.Figure) else json.dumps(figure, default=_array)


def _array(array: np.ndarray) -> Any:
    if array.dtype == object:
        return array.tolist()
    data = base64.b64encode(array.tobytes()).decode("ascii")
    shape = {"shape": ", ".join(map(str, array.shape))} if array.ndim > 1 else {}
    return {"dtype": array.dtype.str[1:], "bdata": data} | shape


@cache
def _served() -> str:
    """The name under which Plotly's script is served; put there at the first call, whole or not at all.

    Raises ValueError where the folder cannot be written to.
    """
    name = f"plotly-{plotly.__version__}.min.js"
    if not (STATIC / name).exists():
        part = STATIC / f"{name}.{os.getpid()}.part"
        try:
            STATIC.mkdir(exist_ok=True)
            shutil.copyfile(Path(plotly.__file__).parent / "package_data" / "plotly.min.js", part)
            part.replace(STATIC / name)
        except OSError as error:
            raise ValueError(
                f"Plotly's script cannot be put into static/: {error.strerror}. Make that folder writable, and reload."
            ) from None
    return name
