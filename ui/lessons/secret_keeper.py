"""Storage of a class's secret in the teacher's browser, so that a reload or a restart of the server asks for nothing.

A teacher's link has the secret behind its #, which browsers send to no server: it is in no log of a proxy.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from headlight.viewer.scripts import script
from ui.widgets import look_here

_KEY = "secret-keeper"
_MAX_CHARACTERS = 80  # of what a browser brings
_KEEPER = st.components.v2.component(
    "headlight_secret_keeper",
    js=script("storage")
    + """
export default function ({ data, setTriggerValue }) {
  const { code, secret, wrong } = data, name = `headlight-class-${code}`;
  const kept = stored("localStorage", name), link = new URLSearchParams(location.hash.slice(1)).get("teacher");
  if (link !== null) history.replaceState(history.state, "", location.pathname + location.search);
  if (wrong && kept === wrong) store("localStorage", name, null);
  else if (secret) store("localStorage", name, secret);
  if (link || (kept && !secret && !wrong)) setTriggerValue("found", { link, kept });
}
""",
)


def keep(code: str, is_teacher: Callable[[str], bool], *, wrong: str = "") -> None:
    """Store this session's secret in the browser, or read the browser's; the browser forgets the secret `wrong`.

    The browser's secret is held if `is_teacher` accepts it. A wrong link displaces no secret.
    """
    _KEEPER(
        data={"code": code, "secret": look_here.held_secret(code), "wrong": wrong},
        key=_KEY,
        on_found_change=lambda: _take_secret(code, is_teacher),
    )


def _take_secret(code: str, is_teacher: Callable[[str], bool]) -> None:
    match st.session_state[_KEY].get("found"):
        case {"link": link, "kept": stored}:
            secrets = [each for each in (link, stored) if isinstance(each, str) and 0 < len(each) <= _MAX_CHARACTERS]
            right = next(filter(is_teacher, secrets), None)
            if right is not None:
                look_here.hold_secret(code, right)
            elif secrets and not look_here.held_secret(code):
                look_here.hold_secret(code, secrets[-1])  # the page says why it is refused
