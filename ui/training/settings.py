"""Every setting of a run as a box with its explanation, or with its error, below it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import streamlit as st

from ui.training.draft import CORPUS, NETWORK, SWITCHES, TRAINING, Values, help_of, kind_of, label_of, spelled
from ui.widgets.text import literal

BOXES_PER_ROW = 3
PLACEHOLDERS = {"threads": "all", "validation": "its own, or held out", "folder": "data/multi30k"}


def key_of(name: str) -> str:
    """Return the key of a setting's box, which contains the draft's number: each draft has boxes of its own."""
    return f"draft-{st.session_state['draft'].number}-{name}"


def every_setting(
    values: Values, wrong: Mapping[str, str], fixed: Collection[str], elsewhere: Collection[str] = ()
) -> None:
    """Draw all settings in tabs, except those that are drawn `elsewhere`; `fixed` settings are disabled."""
    excluded = {*SWITCHES, *elsewhere}
    tabs = {
        "Training techniques": list(SWITCHES),
        "Training": [name for name in TRAINING if name not in excluded],
        "Network": [name for name in NETWORK if name not in excluded],
        "Data and hardware": CORPUS,
    }
    for tab, names in zip(st.tabs(list(tabs)), tabs.values(), strict=True):
        with tab:
            _grid(names, values, wrong, fixed)


def _grid(names: Sequence[str], values: Values, wrong: Mapping[str, str], fixed: Collection[str]) -> None:
    with st.grid(BOXES_PER_ROW, min_column_width=180, gap="medium"):
        for name in names:
            setting(name, values, wrong, fixed)


def setting(
    name: str, values: Values, wrong: Mapping[str, str], fixed: Collection[str] = (), note: bool = True
) -> None:
    """Draw one box; what is typed is read at the next run, so that the message below it is about the current value."""
    kind, key, locked = kind_of(name), key_of(name), name in fixed
    label, value = SWITCHES.get(name, label_of(name)), values[name]
    with st.container(gap="xxsmall"):
        if isinstance(kind, tuple):
            st.selectbox(label, kind, index=kind.index(value) if value in kind else 0, key=key, disabled=locked)
        elif kind is bool:
            st.checkbox(label, bool(value), key=key, disabled=locked)
        else:
            typed = value if isinstance(value, str) else spelled(value)
            st.text_input(label, typed, key=key, disabled=locked, live=True, placeholder=PLACEHOLDERS.get(name))
        if name in wrong:
            st.caption(f":red[{literal(wrong[name])}]")
        elif note:
            st.caption(literal(help_of(name)))
