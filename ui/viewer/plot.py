"""A Plotly chart that is changed in place: choosing another head takes a third of the time of a new chart."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import TypedDict

import plotly
import plotly.graph_objects as go
import streamlit as st

from ui.viewer.assets import script

# Streamlit serves this folder at app/static/. The script is the one that the plotly package brings.
STATIC = Path(__file__).parents[2] / "static"

# As a bold line of Streamlit's own.
_STYLE = """
.plot-title { margin-bottom: 1rem; line-height: 1.6; }
.plot-title:empty { display: none; }
.plot-title span { color: var(--st-gray-text-color, gray); }
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


def plot(figure: go.Figure, *, key: str, title: tuple[str, str] | None = None, shows: Shows | None = None) -> None:
    """The figure as wide as its place, under a title in bold and grey; `layout.meta` says in words what it shows."""
    given = {"script": f"app/static/{_served()}", "alt": figure.layout.meta, "title": title, "shows": shows}
    head = json.dumps(given)
    _PLOT(data=f'{head[:-1]}, "figure": {figure.to_json()}}}'.encode(), key=key)


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
