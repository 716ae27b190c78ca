"""A model, opened in the other pages."""

from __future__ import annotations

import streamlit as st
from streamlit.errors import StreamlitAPIException

from ui.state.view import reseed, update

# The pages that are about a model, in the order of the navigation.
PAGES = {
    "Attention": ("pages/attention.py", ":material/grid_view:"),
    "Decoding": ("pages/decoding.py", ":material/account_tree:"),
    "Positions": ("pages/positions.py", ":material/waves:"),
    "Anatomy": ("pages/anatomy.py", ":material/hub:"),
    "Heads": ("pages/heads.py", ":material/psychology_alt:"),
}


def open_in(model: str) -> None:
    """A button for each page that is about a model; it opens there."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="open-model"):
        st.caption("Open this model in", width="content")
        for title, (page, icon) in PAGES.items():
            if st.button(title, icon=icon, key=f"open-{title}", type="tertiary"):
                _open(page, model)


def _open(page: str, model: str) -> None:
    update(model=model, text=None, target=None)
    reseed()
    try:
        st.switch_page(page)
    except StreamlitAPIException:  # the app was started with other pages
        st.info(f"Choose a page in the menu; it will open with {model}.", icon=":material/info:")
