"""A run that needs attention: what happened, the end of its log, and the button that fixes it."""

from __future__ import annotations

import streamlit as st

from headlight.runs import Status
from ui.state.public import without_places
from ui.training.keeping import attempt
from ui.training.shelf import FAILED_STATES
from ui.training.steering import acts
from ui.widgets.errors import without_folders
from ui.widgets.text import literal

TITLES = {
    "crashed": "The worker ended",
    "stalled": "The worker does not respond",
    "diverged": "The training diverged",
    "out of disk": "The disk is full",
}
LOG_LINES = 6


def failure(run: Status) -> None:
    """Draw the card, where there is anything to report."""
    if notes := [*run.repairs, *run.damaged, *([run.advice] if run.damaged and run.state not in FAILED_STATES else [])]:
        st.warning("\n\n".join(literal(without_folders(text)) for text in notes), icon=":material/healing:")
    if run.state not in FAILED_STATES:
        return
    at_step = f" at step {run.step:,}" if run.step else " before the first step"
    with st.container(border=True, key="failure"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f":red[:material/warning: **{TITLES[run.state]}{at_step}.**] {literal(without_places(run.cause))}",
                width="stretch",
            )
            for act in acts(run):
                label = _label(act.label, run)
                st.button(
                    label, icon=act.icon, type="primary", key=f"failure-{act.label}", on_click=attempt, args=(act.do,)
                )
        st.markdown(f":gray[What to do:] {literal(without_places(run.advice))}")
        if run.log:
            st.caption("The end of its log")
            st.code(without_places("\n".join(run.log[-LOG_LINES:])), language=None, wrap_lines=True)


def _label(label: str, run: Status) -> str:
    return f"Resume from step {run.saved_step:,}" if label == "Resume" and run.saved_step is not None else label
