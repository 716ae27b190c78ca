"""A model, opened in the other pages."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.errors import StreamlitAPIException

from ui.state.view import reseed, update
from ui.widgets.pages import PAGES


def open_in(model: str) -> None:
    """A button for each page that is about a model; it opens there."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="open-model"):
        st.caption("Open this model in", width="content")
        for page in PAGES:
            if page.of_model and st.button(page.title, icon=page.icon, key=f"open-{page.title}", type="tertiary"):
                _open(page.script, model)


def _open(page: Path, model: str) -> None:
    update(model=model, text=None, target=None)
    reseed()
    try:
        st.switch_page(page)
    except StreamlitAPIException:  # the app was started with other pages
        st.info(f"Choose a page in the menu; it will open with {model}.", icon=":material/info:")
