"""Buttons that the browser itself answers: one copies a link to the view, and one saves a text file."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from headlight.language import gettext

BUTTON_CSS = """
button { font: inherit; font-size: 0.93rem; width: 100%; padding: 0.45rem 0.75rem; cursor: pointer;
  color: var(--st-text-color); background: transparent; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); display: flex; gap: 0.5rem; align-items: center; justify-content: center; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
"""

_COPY_LINK = st.components.v2.component(
    "copy_link",
    html="""
<button type="button">
  <svg viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" aria-hidden="true"><path d="M9 15l6-6"/>
    <path d="M10.500 6.500l2-2a4.200 4.200 0 0 1 6 6l-2 2"/>
    <path d="M13.500 17.500l-2 2a4.200 4.200 0 0 1-6-6l2-2"/></svg>
  <span class="text"></span>
</button>
""",
    css=BUTTON_CSS,
    js="""
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button"), text = parentElement.querySelector(".text");
  const say = (words) => { text.textContent = words; };
  const { label, more, server, secret, words } = data, link = () => {
    const url = new URL(location.href);
    if (server) Object.assign(url, { protocol: new URL(server).protocol, host: new URL(server).host });
    for (const [name, value] of Object.entries(more)) url.searchParams.set(name, value);
    url.hash = secret ? new URLSearchParams({ teacher: secret }) : "";
    return url.href;
  };
  say(label);
  button.onclick = async () => {
    try {
      await navigator.clipboard.writeText(link());
      say(words.copied);
    } catch {  // not allowed outside https and localhost
      const field = document.body.appendChild(document.createElement("textarea"));
      field.value = link();
      field.select();
      const other = secret || Object.keys(more).length ? words.failed : words.by_hand;
      say(document.execCommand("copy") ? words.copied : other);
      field.remove();
    }
    setTimeout(() => say(label), 2000);
  };
}
""",
)


def copy_link(label: str = "", key: str = "copy-link", server: str = "", secret: str = "", **more: str) -> None:
    """Draw a button that puts the address of the view on the clipboard.

    Without a `label` it says that it copies the link to this view. `more` are parameters of the link that the address
    bar doesn't show; `secret`, a teacher's, stands behind its #, which browsers send to no server; `server` begins it
    in place of the address bar's scheme, host and port ("http://192.168.1.5:8501").
    """
    words = {
        "copied": gettext("Copied"),
        "failed": gettext("It could not be copied"),
        "by_hand": gettext("Copy it from the address bar"),
    }
    label = label or gettext("Copy link to this view")
    _COPY_LINK(data={"label": label, "more": more, "server": server, "secret": secret, "words": words}, key=key)


_DOWNLOAD = st.components.v2.component(
    "download",
    html="""
<button type="button">
  <svg viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M12 4v11M4.500 19.500h15"/>
    <path d="M7.500 10.500L12 15l4.500-4.500"/></svg>
  <span></span>
</button>
""",
    css=BUTTON_CSS + "button { white-space: nowrap; }",
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


def text_download(label: str, name: str, kind: str, content: Callable[[], str], *, key: str) -> None:
    """Draw a button that saves a text file: `content` returns its text, of the media type `kind`, after each click.

    A click on Streamlit's own button with deferred data names a file that every run of the page replaces: while the
    page runs, a click finds none. Here the click is an event, which waits for the run.
    """
    request = (st.session_state.get(key) or {}).get("wanted")
    file = {"wanted": request, "text": content()} if isinstance(request, int) else None
    _DOWNLOAD(data={"label": label, "name": name, "kind": kind, "file": file}, key=key, on_wanted_change=lambda: None)
