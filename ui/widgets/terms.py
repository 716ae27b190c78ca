"""Terms of the glossary, explained where they stand (headlight/glossary.py): by hover, tap or keyboard."""

from __future__ import annotations

import streamlit as st

from headlight.glossary import explained, glossary, term
from headlight.viewer.scripts import style, viewer_script

__all__ = ["explain_terms", "explained", "glossary", "term"]

_EXPLAIN = st.components.v2.component(
    "headlight_terms",
    html='<div class="terms"><div class="meaning" role="tooltip" popover="manual" hidden></div></div>',
    css=style("terms"),
    js=viewer_script("terms") + "\nexport default mountTerms;\n",
)


def explain_terms() -> None:
    """Draws, once for a page, what shows the meanings."""
    _EXPLAIN(key="terms")
