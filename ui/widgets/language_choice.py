"""The choice of the language, below the menu: each by the name that it has for itself."""

from __future__ import annotations

import streamlit as st

from headlight.language import LANGUAGES, current, gettext
from ui.state.view import choose_language

_KEY = "language-choice"
# It tells screen readers in which language the page is, too.
_CHOICE = st.components.v2.component(
    "headlight_language",
    html="""
<label>
  <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.7"
    stroke-linecap="round" aria-hidden="true"><circle cx="12" cy="12" r="8.500"/>
    <path d="M3.500 12h17M12 3.500c-5 5-5 12 0 17M12 3.500c5 5 5 12 0 17"/></svg>
  <select></select>
</label>
""",
    css="""
label { display: flex; gap: 0.6rem; align-items: center; padding: 0 0.5rem; color: var(--st-text-color); }
select { flex: 1; min-width: 0; font: inherit; font-size: 0.93rem; padding: 0.3rem 0.2rem; cursor: pointer;
  color: var(--st-text-color); background: transparent; border: 1px solid transparent;
  border-radius: var(--st-base-radius); }
select:hover { border-color: var(--st-border-color); }
select:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
option { color: var(--st-text-color); background: var(--st-background-color); }
""",
    js="""
export default function ({ parentElement, data, setTriggerValue }) {
  const select = parentElement.querySelector("select"), { languages, chosen, said, label } = data;
  document.documentElement.lang = said;
  select.setAttribute("aria-label", label);
  select.replaceChildren(...Object.entries(languages).map(([code, name]) => {
    const option = new Option(name, code, false, code === chosen);
    option.lang = code;
    return option;
  }));
  select.onchange = () => setTriggerValue("language", select.value);
}
""",
)


def language_choice(chosen: str) -> None:
    """Draw the choice, with the language of this session selected; the page that follows may be in another."""
    data = {"languages": LANGUAGES, "chosen": chosen, "said": current(), "label": gettext("Language")}
    with st.sidebar:
        _CHOICE(data=data, key=_KEY, on_language_change=_choose)


def _choose() -> None:
    choose_language(st.session_state[_KEY].get("language"))
