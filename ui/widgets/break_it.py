"""A mistake of a tutorial, made in the model at hand: chosen in the sidebar, and told on top of the page."""

from __future__ import annotations

import streamlit as st

from transformer.broken import MISTAKES
from ui.state.view import reseed, take, update, widget_key

WHOLE = ""


def break_it(broken: str, among: tuple[str, ...]) -> None:
    """Draws the choice `among` the mistakes, and where one is made, both equations and what to look at."""
    key = widget_key("broken")
    with st.sidebar:
        st.selectbox(
            "Break it",
            (WHOLE, *among),
            index=(WHOLE, *among).index(broken),
            format_func=lambda name: MISTAKES[name].title if name else "No: the model as it is",
            key=key,
            on_change=take,
            args=("broken", key),
            help="Runs this very model with a mistake that tutorials make. It is over when you open another page.",
        )
    if not broken:
        return
    made = MISTAKES[broken]
    with st.container(border=True, key="broken"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/bolt: **Broken on purpose: {made.title.lower()[:1]}{made.title[1:]}.**")
            st.button("Mend it", icon=":material/build:", on_click=_mend, key="mend")
        before, after = st.columns(2)
        before.caption("As it should be")
        before.latex(made.right)
        after.caption("As it runs now")
        after.latex(made.wrong)
        st.caption(f"What to look at: {made.look_at}")


def _mend() -> None:
    update(broken=WHOLE)
    reseed()
