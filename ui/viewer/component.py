"""The viewer's scripts and styles, read from the files beside this one, and the components that are made of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from transformer.charts.colours import THEMES

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE = Path(__file__).parent
SCRIPTS = _HERE / "js"


def script(*names: str) -> str:
    """The named files of js/, joined in that order into one scope."""
    return "\n".join((SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in names)


def viewer_script(*names: str) -> str:
    """The colours of both themes, then core.js and the named files: what every view stands on."""
    palette = json.dumps({name: asdict(theme) for name, theme in THEMES.items()})
    return f"const PALETTE = {palette};\n" + script("core", *names)


def style(name: str) -> str:
    """A style sheet of this folder."""
    return (_HERE / f"{name}.css").read_text(encoding="utf-8")


def component(name: str, mount: str, *scripts: str, styles: tuple[str, ...] = ()) -> ComponentRenderer:
    """A component that `mount`, a function in the last of its own `scripts`, draws; `styles` come after the viewer's.

    Streamlit knows it as headlight_`name`. The scripts share a scope with core.js before and streamlit.js after them.
    """
    return st.components.v2.component(
        f"headlight_{name}",
        html='<div class="hl"></div>',
        css="".join(style(sheet) for sheet in ("viewer", *styles)),
        js=viewer_script(*scripts, "streamlit") + f"\nexport default given => component({mount}, given);\n",
    )
