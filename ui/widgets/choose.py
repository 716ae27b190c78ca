"""A choice among a few options, bound to a field of the view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from ui.state.view import PageView, bound


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
