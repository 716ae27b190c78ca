"""Every head of the model in a table: sorted by a click on a column, filtered by what the heads are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from transformer.analysis.atlas import OF_GOLD, OF_SAMPLE, Atlas
from transformer.analysis.atlas.roles import BY_MEASURE, ROLES, RULE, Role, roles
from transformer.heads import places
from transformer.trace import Kind
from ui.heads.view import ANY, NAMED, HeadsView
from ui.heads.words import MEASURES
from ui.view import take, update, widget_key

Place = tuple[Kind, int, int]
_LAST = ("entropy", "distance")  # what is known from gold or from passes of its own tells more than what is seen
_ORDER = sorted(MEASURES, key=lambda m: (m.name in _LAST, m.name not in (*OF_GOLD, *OF_SAMPLE)))


def table(found: Atlas, view: HeadsView, chosen: tuple[int, int]) -> None:
    st.subheader("Heads in numbers", anchor="heads-in-numbers")
    named = {place: roles(found, *place) for place in places(found)}
    rows = _filtered(named, view)
    columns, config = _columns(found, named, rows, (view.kind, *chosen))
    key = widget_key(f"heads-table-{view.only}")

    def open_row() -> None:
        picked = st.session_state[key].selection.rows
        if picked:
            kind, layer, head = rows[picked[0]]
            update(kind=kind, layer=layer + 1, head=head + 1)

    st.dataframe(
        columns,
        key=key,
        hide_index=True,
        on_select=open_row,
        selection_mode="single-row",
        placeholder="",
        alt="Every head that passes the filter, with its names and the mean of each measure.",
        column_config=config,
        height=min(35 * (len(rows) + 1) + 3, 460),
    )


def _filtered(named: dict[Place, list[Role]], view: HeadsView) -> list[Place]:
    """Draws the filter; the heads that pass it."""
    there = {role.what.measure for given in named.values() for role in given}
    options = [ANY, NAMED, *(role.measure for role in ROLES if role.measure in there)] if there else [ANY]
    only = view.only if view.only in options else ANY
    number = sum(bool(given) for given in named.values())

    def label(option: str) -> str:
        if option in (ANY, NAMED):
            return {ANY: f"All {len(named)}", NAMED: f"Named {number}"}[option]
        count = sum(any(role.what.measure == option for role in given) for given in named.values())
        name = BY_MEASURE[option].name
        return f"{name[0].upper()}{name[1:]} {count}"

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        key = widget_key("heads-only")
        st.pills(
            "Heads",
            options,
            default=only,
            required=True,
            format_func=label,
            key=key,
            on_change=take,
            args=("only", key),
            label_visibility="collapsed",
        )
    st.caption("Sort a column to find the head to open; a row opens it above.", help=RULE)
    if only == ANY:
        return list(named)
    if only == NAMED:
        return [place for place, given in named.items() if given]
    return [place for place, given in named.items() if any(role.what.measure == only for role in given)]


def _columns(
    found: Atlas, named: dict[Place, list[Role]], rows: list[Place], chosen: Place
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "Head": [
            f"{kind.capitalize()} {layer + 1}.{head + 1}" + (" ◂" if (kind, layer, head) == chosen else "")
            for kind, layer, head in rows
        ],
        "Named": [", ".join(role.name for role in named[place]) for place in rows],
    }
    config: dict[str, Any] = {
        "Head": st.column_config.TextColumn(width=96, help="The kind of attention, its layer and its head."),
        "Named": st.column_config.TextColumn(width=150, help=RULE),
    }
    for measure in _ORDER:
        values = [_value(found, place, measure.name) for place in rows]
        if all(value is None for value in values):
            continue
        columns[measure.label] = values
        help = f"{measure.meaning} Unit: {measure.unit}."
        if measure.unit == "share":
            config[measure.label] = st.column_config.ProgressColumn(
                width=78, format="%.2f", min_value=0.0, max_value=1.0, help=help
            )
        else:
            digits = 4 if measure.name == "importance" else 2
            config[measure.label] = st.column_config.NumberColumn(width=78, format=f"%.{digits}f", help=help)
    return columns, config


def _value(found: Atlas, place: Place, name: str) -> float | None:
    kind, layer, head = place
    spread = found.heads[kind].get(name)
    value = np.nan if spread is None else float(spread.mean[layer, head])
    return None if np.isnan(value) else value
