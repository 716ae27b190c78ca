"""Large type for a projector, on all pages: an entry in the sidebar below the menu, and a key.

The page is zoomed so that nothing on it is written in less than 18 of the window's pixels, and pictures grow with it.
The browser alone handles it: the tab remembers it, and it is not part of any address.
"""

from __future__ import annotations

import os

import streamlit as st

from headlight.language import gettext
from headlight.viewer.scripts import script

SIGN_OUT = "sign-out"  # the path, as server/login.py has it
_ENTRY = st.components.v2.component(
    "headlight_presenting",
    html="""
<button type="button" aria-pressed="false">
  <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.7"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="M3 19L8.500 5L14 19M5 14.500h7"/>
    <path d="M15.500 19l3-8l3 8M16.500 16.500h4"/></svg>
  <span></span><kbd>L</kbd>
</button>
""",
    css="""
button { all: unset; box-sizing: border-box; cursor: pointer; width: 100%; padding: 0.3rem 0.5rem; display: flex;
  gap: 0.6rem; align-items: center; font-size: 0.93rem; color: var(--st-text-color);
  border-radius: var(--st-base-radius); }
button:hover { color: var(--st-primary-color); }
button[aria-pressed="true"] { color: var(--st-primary-color); font-weight: 600; }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
span { flex: 1; }
kbd { font: inherit; font-size: 0.87rem; padding: 0 0.4rem; border: 1px solid var(--st-border-color);
  border-radius: 4px; }
""",
    js=script("storage")
    + """
export default function ({ parentElement, data }) {
  const button = parentElement.querySelector("button"), page = document.documentElement;
  button.querySelector("span").textContent = data.name;
  button.title = data.help;
  const show = (large) => {
    page.toggleAttribute("data-large-type", large);
    button.setAttribute("aria-pressed", large);
    store("sessionStorage", LARGE_TYPE, large ? "1" : "");
  };
  // The menu gives its room to the pictures, and takes it back with the usual type.
  const toggle = () => {
    const large = !page.hasAttribute("data-large-type");
    const menu = large ? "stSidebarCollapseButton" : "stExpandSidebarButton";
    document.querySelector(`[data-testid=${menu}] button, button[data-testid=${menu}]`)?.click();
    show(large);
  };
  show(stored("sessionStorage", LARGE_TYPE) === "1");
  button.onclick = toggle;
  const pressed = (event) => {
    const other = event.ctrlKey || event.metaKey || event.altKey || event.repeat;
    if (event.key.toLowerCase() !== "l" || other) return;
    const at = event.composedPath()[0];
    if (!at.closest?.("input:not([type=range]), textarea, select, [contenteditable], [role=combobox]")) toggle();
  };
  // Streamlit runs this again where the theme changes, and cleans up only at the end.
  document.removeEventListener("keydown", button.pressed);
  document.addEventListener("keydown", pressed);
  button.pressed = pressed;
  return () => document.removeEventListener("keydown", button.pressed);
}
""",
)


def presenting() -> None:
    """Draw the entry, and where the server asks for a password a way to sign out."""
    with st.sidebar:
        help = gettext("For a projector: everything half as large again")
        _ENTRY(key="presenting", data={"name": gettext("Large type"), "help": help})
        if os.environ.get("HEADLIGHT_PASSWORD"):
            with st.container(key="sign-out"):
                st.html(f'<a href="{SIGN_OUT}" target="_self">{gettext("Sign out")}</a>')
