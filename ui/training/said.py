"""What is said where something cannot be done, in the page's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from transformer.quoting import worded
from ui import resources
from ui.public import private_only, without_places
from ui.training.words import literal

UPLOADS = "uploads"  # the folder among the runs in which uploads are kept


def plain(message: str) -> str:
    """A message without the folders that only the machine needs to know."""
    shown = message.replace(f"{resources.RUNS / UPLOADS}/", "").replace(f"{resources.RUNS}/", "")
    return without_places(shown)


def cannot(error: Exception | str, title: str | None = None) -> None:
    st.warning(literal(plain(error if isinstance(error, str) else worded(error))), icon=":material/error:", title=title)


def attempt(do: Callable[..., object], *args: Any) -> None:
    """Does what a button says; where that cannot be done, the page says why."""
    try:
        private_only()
        do(*args)
    except (ValueError, OSError) as error:
        st.session_state["training-said"] = worded(error)


def refused() -> None:
    """Says why the last button could not do what it says."""
    if said := st.session_state.pop("training-said", None):
        cannot(said)
