"""The language of a session: that of its address, else the one that was chosen, else its browser's.

It is in the address where it is not English or where the browser would rather have another, so that a link opens in it.
"""

from __future__ import annotations

import streamlit as st

from headlight.language import LANGUAGES, ORIGINAL, ask_for_language, preferred
from ui.state.streamlit_internals import in_session

PARAMETER = "lang"
_CHOSEN, _BROWSER, _IN_USE = "language", "browser-language", "language-said"


def settle_language(browser: str | None) -> str:
    """Return the language of this session, in which everything is said from now on; `browser` is the browser's own."""
    in_address = st.query_params.get(PARAMETER)
    st.session_state[_BROWSER] = preferred(browser)
    if in_address in LANGUAGES:
        st.session_state[_CHOSEN] = in_address
    language = str(st.session_state.setdefault(_CHOSEN, st.session_state[_BROWSER]))
    say_in(language)
    return language


def say_in(language: str) -> None:
    """Say what follows in that language, also in the fragments of the page that is opened now."""
    st.session_state[_IN_USE] = language


def choose_language(language: object) -> None:
    """Make that the language of this session; nothing where it is none of ours."""
    if language in LANGUAGES:
        st.session_state[_CHOSEN] = st.query_params[PARAMETER] = language


def address_parameters() -> dict[str, str]:
    """Return the part of the address that says the language."""
    language = st.session_state.get(_CHOSEN, ORIGINAL)
    return {} if language == st.session_state.get(_BROWSER, ORIGINAL) == ORIGINAL else {PARAMETER: language}


def _of_session() -> str | None:
    return st.session_state.get(_IN_USE) if in_session() else None


ask_for_language(_of_session)
