"""The viewer's scripts and styles, read from the files beside this one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headlight.charts.colours import THEMES
from headlight.language import script_messages

_HERE = Path(__file__).parent
SCRIPTS = _HERE / "js"
# The scripts of the viewer on a page without Streamlit: every head, one of them large, and its lines.
VIEWS = ("shared", "icons", "overview", "map_box", "map_axes", "head", "lines", "views")


def script(*names: str) -> str:
    """Return the named files of js/, joined in that order into one scope."""
    return "\n".join((SCRIPTS / f"{name}.js").read_text(encoding="utf-8") for name in names)


def viewer_script(*names: str, shared_on: str = "document", errors_of: Sequence[str] = ()) -> str:
    """Return the script of what every view needs (colours, messages, numbers.js, core.js) and these files.

    `shared_on` is the JavaScript object on which views keep what they share. `errors_of` names files of a worker whose
    errors the page shows.
    """
    palette = json.dumps({name: asdict(theme) for name, theme in THEMES.items()})
    files = ("messages", "numbers", "core", "texts", *names)
    messages = script_messages(*files, *errors_of)
    constants = f"const PALETTE = {palette},\n  MESSAGES = {messages},\n  SHARED_ON = {shared_on};\n"
    return constants + script(*files)


def style(name: str) -> str:
    """Return a style sheet of this folder."""
    return (_HERE / f"{name}.css").read_text(encoding="utf-8")
