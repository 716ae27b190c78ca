"""The dialog that asks before a run or a model is deleted."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.state.public import private_only
from ui.state.view import update
from ui.widgets.errors import cannot


def confirm_deletion(title: str, consequences: str, delete: Callable[[], object], **changes: object) -> None:
    """Open a dialog that states the consequences (Markdown) and deletes on request; then the view takes `changes`."""

    @st.dialog(title, icon=":material/delete:")
    def dialog() -> None:
        st.markdown(consequences)
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button("Keep it", key="keep-it"):
                st.rerun()
            if st.button("Delete", key="delete-it", type="primary", icon=":material/delete:"):
                try:
                    private_only()
                    delete()
                except (ValueError, OSError) as error:
                    cannot(error)
                    return
                update(**changes)
                st.rerun()

    dialog()
