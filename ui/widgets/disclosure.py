"""Parts of a page that are hidden until opened: controls behind a button on a narrow page, and expanders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import streamlit as st

from headlight.language import gettext

T = TypeVar("T")

# The browser alone knows how wide the page is, so page.css shows either the button or the row.
_BUTTON = st.components.v2.component(
    "headlight_disclosure",
    html="""
<button type="button"><span></span><b></b>
  <svg viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M6 9l6 6l6-6"/></svg>
</button>
""",
    css="""
button { all: unset; box-sizing: border-box; cursor: pointer; width: 100%; min-height: 2.4rem; padding: 0.3rem 0.75rem;
  display: flex; gap: 0.4rem; align-items: center; font-size: 0.93rem; line-height: 1.3; color: var(--st-text-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius); }
button:hover { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
span { flex: 1; }
b { font-weight: 400; color: var(--st-primary-color); }
svg { flex: none; color: var(--st-primary-color); }
button[aria-expanded="true"] svg { transform: rotate(180deg); }
""",
    js="""
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const box = () => document.querySelector(`.st-key-${data.key}`);
  const show = (open) => {
    box().toggleAttribute("data-open", open);
    button.setAttribute("aria-expanded", open);
  };
  button.querySelector("span").textContent = data.chosen;
  button.querySelector("b").textContent = data.change;
  button.onclick = () => show(!box().hasAttribute("data-open"));
  show(box().hasAttribute("data-open"));
}
""",
)


@contextmanager
def behind_button(key: str, chosen: str) -> Iterator[None]:
    """Draw what is drawn within as a row, or behind a button that says what is `chosen`. `key` is a CSS name."""
    with st.container(key=key, gap=None):
        _BUTTON(data={"key": key, "chosen": chosen, "change": gettext("Change")}, key=f"{key}-button")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{key}-row"):
            yield


def draw_when_open(label: str, key: str, draw: Callable[..., T], *arguments: object) -> T | None:
    """Draw an expander, closed at first; while it is open, call `draw(*arguments)` in it and return its result."""
    expander = st.expander(label, key=key, on_change="rerun")
    if not expander.open:
        return None
    with expander:
        return draw(*arguments)
