"""Controls that several pages draw: a choice bound to a field of the view, and the dialog before a deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from ui.state.public import private_only
from ui.state.view import PageView, bound, update
from ui.widgets.errors import cannot


def choose(
    view: PageView,
    field: str,
    label: str,
    options: Mapping[Any, str] | Iterable[Any],
    value: object = None,
    menu: bool = False,
    hide_label: bool = False,
    **look: Any,
) -> None:
    """Draw the options of a field side by side, or in a `menu`, with the view's own or `value` chosen.

    A mapping has a text for each option; others are names, and capitalised. `look` are arguments of the widget, among
    them those of `bound` where more than the field changes.
    """
    chosen, listed = getattr(view, field) if value is None else value, list(options)
    look = bound(field) | {"label_visibility": "collapsed" if hide_label else "visible"} | look
    look.setdefault("format_func", options.__getitem__ if isinstance(options, Mapping) else str.capitalize)
    if menu:
        st.selectbox(label, listed, listed.index(chosen), **look)
    else:
        st.segmented_control(label, listed, default=chosen, required=True, **look)


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
