"""The Training page's own components: the list of runs, the curves, the film strip and the translations.

The last three tell each other, in the browser, which step is looked at.
"""

from __future__ import annotations

import streamlit as st

from ui.viewer.assets import script, style


def _component(name: str, mount: str, *scripts: str):  # type: ignore[no-untyped-def]
    entry = f"\nexport default given => component({mount}, given);\n"
    return st.components.v2.component(
        f"headlight_{name}",
        html='<div class="hl"></div>',
        css=style("viewer") + style("training"),
        js=script("core", "shared", "icons", "training", *scripts, "streamlit") + entry,
    )


RUNS = _component("runs", "mountRuns", "runs")
CURVES = _component("curves", "mountCurves", "curves")
FILM = _component("film", "mountFilm", "film")
WRITES = _component("writes", "mountWrites", "writes")
