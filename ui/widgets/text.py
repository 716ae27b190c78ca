"""Texts of a page: typed text in Markdown, and the terms of the glossary that explain themselves where they stand."""

from __future__ import annotations

import streamlit as st

from headlight.graphemes import isolated
from headlight.viewer.scripts import style, viewer_script

MARKUP = frozenset(r"\`*_{}[]()#+-.!|<>~$:^&")
_EXPLAIN = st.components.v2.component(
    "headlight_terms",
    html='<div class="terms"><div class="meaning" role="tooltip" popover="manual" hidden></div></div>',
    css=style("terms"),
    js=viewer_script("terms") + "\nexport default mountTerms;\n",
)


def literal(text: str) -> str:
    """Return typed text for Markdown: nothing in it is markup, and it may run another way than its surroundings."""
    return isolated("".join(f"\\{c}" if c in MARKUP else c for c in text))


def explain_terms() -> None:
    """Draw the tooltip that explains the terms of headlight/glossary.py by hover, tap or keyboard; once for a page."""
    _EXPLAIN(key="terms")
