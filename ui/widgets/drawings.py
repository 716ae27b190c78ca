"""Small drawings beside each other, as pictures with a text alternative."""

from __future__ import annotations

import base64
import html

import streamlit as st

from headlight.charts.document import FONT, Drawing, inline


def draw(*drawings: Drawing) -> None:
    """Draw them side by side, or below each other where there is no room."""
    st.html(f'<div class="drawings">{"".join(map(_picture, drawings))}</div>')


def _picture(drawing: Drawing) -> str:
    svg = inline(drawing._replace(elements=[f'<g font-family="{FONT}">', *drawing.elements, "</g>"]))
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(drawing.says)}">'
