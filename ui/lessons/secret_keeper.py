"""The teacher's browser keeps the secret of a class, so that a reload or a restart of the server asks for nothing."""

from __future__ import annotations

import streamlit as st

from headlight.viewer.scripts import script
from ui.state import class_secrets

_KEY = "secret-keeper"
_KEEPER = st.components.v2.component(
    "headlight_secret_keeper",
    js=script("storage")
    + """
export default function ({ data, setTriggerValue }) {
  const { code, secret, wrong } = data, name = `headlight-class-${code}`;
  if (wrong) store("localStorage", name, null);
  else if (secret) store("localStorage", name, secret);
  else if (stored("localStorage", name)) setTriggerValue("found", stored("localStorage", name));
}
""",
)


def keep(code: str, *, wrong: bool = False) -> None:
    """Gives the browser what this session holds, or asks for what the browser has; what is `wrong` it forgets."""
    _KEEPER(
        data={"code": code, "secret": class_secrets.held(code), "wrong": wrong},
        key=_KEY,
        on_found_change=lambda: _found(code),
    )


def _found(code: str) -> None:
    match st.session_state[_KEY].get("found"):
        case str(secret) if len(secret) <= 80:
            class_secrets.hold(code, secret)
