"""A file that is not opened: why, what was found, and what to do."""

from __future__ import annotations

import streamlit as st

from transformer.checkpoint.weights import Refused
from ui.checkpoints.boxes import framed
from ui.widgets.table import facts_html
from ui.widgets.text import literal


def card(refused: Refused, name: str) -> None:
    with framed("refused"):
        st.markdown(f"#### :material/gpp_bad: {literal(refused.what or str(refused))}")
        if name:
            st.caption(literal(name[:200]))
        if refused.facts:
            st.html(facts_html("", refused.facts))
        if refused.remedy or refused.command:
            st.markdown("**What to do**")
        if refused.remedy:
            st.markdown(literal(refused.remedy))
        if refused.command:
            st.code(refused.command, language=None, wrap_lines=True)
