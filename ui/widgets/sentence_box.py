"""A box for one sentence, as high as the sentence is long; Enter finishes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import streamlit as st

from headlight.language import gettext
from ui.state.view import bound

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
    field: str = "",
    *,
    key: str = "",
    convert: Callable[[str], object] = str,
    placeholder: str = "",
    **look: Any,
) -> str:
    """Draw a box bound to a field of the view, or else with a key of its own, and return what is in it.

    Without a `placeholder`, it says what to do. `convert` turns what was typed into the field's value; `look` are
    arguments of the widget. Line breaks, which come only by pasting, become spaces.
    """
    binding = bound(field, convert=lambda text: convert(one_line(text))) if field else {"key": key}
    key = binding["key"]
    with st.container(key=f"sentence-box-{key}", gap=None):
        placeholder = placeholder or gettext("Type a sentence and press Enter")
        typed = st.text_area(label, value, height="content", placeholder=placeholder, **look, **binding)
        _ENTER(data=re.sub(r"[^\w-]", "-", key), key=f"enter-{key}")
    return one_line(typed)


def one_line(text: str | None) -> str:
    return " ".join((text or "").splitlines())
