"""A button that saves a text file written at the click.

A click on Streamlit's own button with deferred data names a file that every run of the page replaces: while the page
runs, a click finds none. Here the click is an event, which waits for the run.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

_BUTTON = st.components.v2.component(
    "download",
    html="""
<button type="button">
  <svg viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 4v11M4.500 19.500h15"/>
    <path d="M7.500 10.500L12 15l4.500-4.500"/></svg>
  <span></span>
</button>
""",
    css="""
button { font: inherit; font-size: 0.93rem; width: 100%; padding: 0.45rem 0.75rem; cursor: pointer; white-space: nowrap;
  color: var(--st-text-color); background: transparent; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); display: flex; gap: 0.5rem; align-items: center; justify-content: center; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
""",
    js="""
export default function ({ parentElement, data, setTriggerValue }) {
  const button = parentElement.querySelector("button"), { label, name, kind, file } = data;
  button.querySelector("span").textContent = label;
  button.onclick = () => {
    button.wanted = Date.now();
    setTriggerValue("wanted", button.wanted);
  };
  if (!file || file.wanted !== button.wanted) return; // not asked for, or saved already
  button.wanted = null;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([file.text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
""",
)


def download(label: str, name: str, kind: str, content: Callable[[], str], *, key: str) -> None:
    """Draw the button. `content` returns the text of the file `name`, of the media type `kind`, after each click."""
    request = (st.session_state.get(key) or {}).get("wanted")
    file = {"wanted": request, "text": content()} if isinstance(request, int) else None
    _BUTTON(data={"label": label, "name": name, "kind": kind, "file": file}, key=key, on_wanted_change=lambda: None)
