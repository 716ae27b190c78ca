"""The secrets of the classes that this session teaches. No address has them: a projector shows the address bar."""

from __future__ import annotations

import streamlit as st

_KEY = "class-secrets"  # in the session: by the class's code


def hold(code: str, secret: str) -> None:
    st.session_state.setdefault(_KEY, {})[code] = secret


def held(code: str) -> str:
    """The secret of whoever teaches that class, or "" where this session has none."""
    return str(st.session_state.get(_KEY, {}).get(code, ""))


def drop(code: str) -> None:
    st.session_state.get(_KEY, {}).pop(code, None)
