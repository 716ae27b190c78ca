"""How many everyday sentences a model translates acceptably, as its card says, and which it doesn't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from ui.widgets.text import literal

LONGEST = 600  # characters of a text that are shown


def section(card: Mapping[str, Any]) -> None:
    """Draws nothing for a card that says nothing of it."""
    everyday = card.get("everyday")
    if not isinstance(everyday, Mapping):
        return
    right, of = everyday.get("accepted"), everyday.get("of")
    if not isinstance(right, int) or not isinstance(of, int):
        return
    st.markdown(f"**{right:,} of {of:,}** everyday sentences translated acceptably")
    if everyday.get("command"):
        st.code(_line(str(everyday["command"])), language="bash", wrap_lines=True)
    if failed := failures(everyday.get("failed")):
        with st.expander("What failed"):
            rows = (f":gray[{literal(source)}]  \n**{literal(written) or '–'}**" for source, written in failed)
            st.markdown("\n\n".join(rows))


def failures(failed: object) -> list[tuple[str, str]]:
    """The sources and what was written for them, each on one line, of a card that anybody may have written."""
    rows = [row for row in failed if isinstance(row, Mapping)] if isinstance(failed, list) else []
    texts = [(row.get("source"), row.get("written")) for row in rows]
    return [(_line(a), _line(b)) for a, b in texts if isinstance(a, str) and isinstance(b, str)]


def _line(text: str) -> str:
    """A line's end would begin a paragraph of markup."""
    return " ".join(text[:LONGEST].split())
