"""A box for one sentence, as high as the sentence is long, in which Enter says that it is finished."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

# Streamlit's box of several lines takes what was typed at Ctrl+Enter; in a sentence there is no other use for Enter.
_ENTER = st.components.v2.component(
    "enter_finishes",
    html="<span hidden></span>",
    js="""
export default function ({ data }) {
  const finish = event => {
    const plain = event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.isComposing;
    if (!plain || !event.target.closest?.(`.st-key-${data} textarea`)) return;
    event.preventDefault();
    event.stopPropagation();
    const again = { key: "Enter", ctrlKey: true, bubbles: true, cancelable: true };
    event.target.dispatchEvent(new KeyboardEvent("keydown", again));
  };
  document.addEventListener("keydown", finish, true);
  return () => document.removeEventListener("keydown", finish, true);
}
""",
)


def sentence_box(
    label: str,
    value: str | None,
    *,
    key: str,
    take: Callable[[str], None],
    placeholder: str | None = "Type a sentence and press Enter",
    hide_label: bool = False,
    max_chars: int | None = None,
) -> str:
    """What is in the box; `take` is called with what was typed. Line breaks, which only a paste brings, are spaces."""
    with st.container(key=f"sentence-box-{key}", gap=None):
        typed = st.text_area(
            label,
            value,
            height="content",
            key=key,
            on_change=lambda: take(one_line(st.session_state[key])),
            placeholder=placeholder,
            label_visibility="collapsed" if hide_label else "visible",
            max_chars=max_chars,
        )
        _ENTER(data=re.sub(r"[^\w-]", "-", key), key=f"enter-{key}")
    return one_line(typed)


def one_line(text: str | None) -> str:
    return " ".join((text or "").splitlines())
