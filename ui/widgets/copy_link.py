"""A button that puts the address of the view on the clipboard.

Only the browser can do that.
"""

from __future__ import annotations

import streamlit as st

from headlight.language import gettext

_BUTTON = st.components.v2.component(
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
    css="""
button { font: inherit; font-size: 0.93rem; width: 100%; padding: 0.45rem 0.75rem; cursor: pointer;
  color: var(--st-text-color); background: transparent; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); display: flex; gap: 0.5rem; align-items: center; justify-content: center; }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
""",
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
    """Draw the button.

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
    _BUTTON(data={"label": label, "more": more, "server": server, "secret": secret, "words": words}, key=key)
