"""The action of a button, and the error where it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from transformer.quoting import worded
from ui.state.public import private_only
from ui.widgets.errors import cannot


def attempt(do: Callable[..., object], *args: Any) -> None:
    """Does what a button says; where that cannot be done, the page says why."""
    try:
        private_only()
        do(*args)
    except (ValueError, OSError) as error:
        st.session_state["training-refused"] = worded(error)


def refused() -> None:
    """Says why the last button could not do what it says."""
    if message := st.session_state.pop("training-refused", None):
        cannot(message)
