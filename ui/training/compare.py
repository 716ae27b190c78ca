"""The configurations of runs side by side, with the differences marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from headlight.formatting import plural
from headlight.runs import Recipe
from headlight.runs.recipe import flat
from ui.state.public import without_places
from ui.widgets.table import Setting, settings_html


def rows(recipes: Sequence[Recipe]) -> list[Setting]:
    """Return every setting, in the order of the configuration."""
    runs = [flat(recipe.to_dict()) for recipe in recipes]
    names = list(dict.fromkeys(name for values in runs for name in values))
    return [Setting(name, tuple(_text(values.get(name)) for values in runs)) for name in names]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else without_places(str(value))


def side_by_side(names: Sequence[str], recipes: Sequence[Recipe]) -> None:
    """Draw the table."""
    st.subheader("Configurations", anchor=False)
    settings = rows(recipes)
    different = [row for row in settings if row.differs]
    every = st.toggle(f"All {len(settings)} settings", key="every-setting")
    count = len(different)
    st.caption(
        f"{plural(count, 'setting differs', 'settings differ')}, marked ≠." if count else "They have the same settings."
    )
    if every or different:
        st.html(settings_html(names, settings if every else different))
