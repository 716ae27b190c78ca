"""The configurations of runs side by side, with what differs marked."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from transformer.charts.colours import theme_named
from transformer.training import Recipe
from ui.public import without_places


@dataclass(frozen=True)
class Row:
    """A setting, and its value in each run."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def rows(recipes: Sequence[Recipe]) -> list[Row]:
    """Every setting, in the order of the configuration."""
    flat = [_flat(recipe.to_dict()) for recipe in recipes]
    names = list(dict.fromkeys(name for values in flat for name in values))
    return [Row(name, tuple(_said(values.get(name)) for values in flat)) for name in names]


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {above + name: value}
    return found


def _said(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:g}"
        if isinstance(value, float)
        else without_places(str(value))
    )


def side_by_side(names: Sequence[str], recipes: Sequence[Recipe]) -> None:
    """Draws the table."""
    st.subheader("Configurations", anchor=False)
    found = rows(recipes)
    different = [row for row in found if row.differs]
    every = st.toggle(f"All {len(found)} settings", key="every-setting")
    count = len(different)
    st.caption(
        f"{count} {'setting differs' if count == 1 else 'settings differ'}, marked ≠."
        if count
        else "They have the same settings."
    )
    if every or different:
        st.html(table_html(names, found if every else different))


def table_html(names: Sequence[str], listed: Sequence[Row]) -> str:
    theme = theme_named(st.context.theme.type or "light")
    cell = f"border:0;border-top:1px solid {theme.line};padding:6px 12px 6px 0;text-align:left;vertical-align:top"
    quiet = f"{cell};font-weight:400;color:{theme.muted}"
    heads = "".join(f'<th scope="col" style="{cell};border-top:0">{html.escape(name)}</th>' for name in names)
    body = []
    for row in listed:
        weight = "600" if row.differs else "400"
        mark = "≠" if row.differs else ""
        values = "".join(
            f'<td style="{cell};font-weight:{weight};overflow-wrap:anywhere">{html.escape(value[:300])}</td>'
            for value in row.values
        )
        tint = f"background:{theme.field}" if row.differs else ""
        body.append(
            f'<tr style="{tint}"><td style="{cell};color:{theme.accent};width:1.5rem;text-align:center">{mark}</td>'
            f'<th scope="row" style="{quiet}">{html.escape(row.name)}</th>{values}</tr>'
        )
    return (
        '<div class="configurations" style="overflow-x:auto">'
        '<table style="width:100%;border-collapse:collapse;border:0">'
        f'<thead><tr><th style="border:0"></th><th style="border:0"></th>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )
