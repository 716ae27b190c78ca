"""Streamlit components that are made of the viewer's scripts and styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from headlight.viewer.scripts import style, viewer_script

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


def component(name: str, mount: str, *scripts: str, styles: tuple[str, ...] = ()) -> ComponentRenderer:
    """Return a component that `mount`, a function in the last of its own `scripts`, draws.

    `styles` come after the viewer's. Streamlit knows it as headlight_`name`. The scripts share a scope with core.js
    before and streamlit.js after them.
    """
    return st.components.v2.component(
        f"headlight_{name}",
        html='<div class="hl"></div>',
        css="".join(style(sheet) for sheet in ("viewer", *styles)),
        js=viewer_script(*scripts, "streamlit") + f"\nexport default given => component({mount}, given);\n",
    )
