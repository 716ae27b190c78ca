"""Every head of the model in a table: sorted by a click on a column, filtered by role."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.atlas import Atlas
from headlight.analysis.atlas.report import History, places
from headlight.analysis.atlas.roles import ROLE_BY_MEASURE, ROLE_RULE, ROLES, Role, roles
from headlight.analysis.measures import Measure
from transformer.trace import KINDS
from ui.heads.head import since_step
from ui.heads.payload import present
from ui.heads.view import ANY, NAMED, HeadsView
from ui.state.atlases import HeadIndex
from ui.state.view import bound, update, widget_key
from ui.widgets.table import clickable_table

PREFERRED_MEASURES = ("alignment_error", "antecedent", "among_words", "importance", "alignment")
MAX_DEFAULT_MEASURES = 4  # more columns, each with its spread, do not fit beside the names


def table(atlas: Atlas, history: History, view: HeadsView, chosen: tuple[int, int]) -> None:
    st.subheader("Heads in numbers", anchor="heads-in-numbers")
    # The heads of the selected kind of attention come first.
    roles_by_head = {key: roles(atlas, *key) for key in sorted(places(atlas), key=lambda key: key[0] != view.kind)}
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        rows = _filtered(roles_by_head, view)
        measures = _chosen_columns(atlas, view)
    st.caption("Sort by a column to find a head; select its row to open it above.", help=ROLE_RULE)
    columns, config = _columns(atlas, history, roles_by_head, rows, (view.kind, *chosen), measures)

    def open_head(row: int) -> None:
        kind, layer, head = rows[row]
        update(kind=kind, layer=layer + 1, head=head + 1)

    clickable_table(
        columns,
        widget_key(f"heads-table-{view.only}"),
        open_head,
        placeholder="",
        alt="Every head that passes the filter, with its names, and the mean and the spread of each measure.",
        column_config=config,
        height=min(35 * (len(rows) + 1) + 3, 460),
    )


def _filtered(roles_by_head: dict[HeadIndex, list[Role]], view: HeadsView) -> list[HeadIndex]:
    """Draw the filter; return the heads that pass it."""
    measures = {role.kind.measure for head_roles in roles_by_head.values() for role in head_roles}
    options = [ANY, NAMED, *(role.measure for role in ROLES if role.measure in measures)] if measures else [ANY]
    only = view.only if view.only in options else ANY
    number = sum(bool(head_roles) for head_roles in roles_by_head.values())

    def label(option: str) -> str:
        if option in (ANY, NAMED):
            return {ANY: f"All {len(roles_by_head)}", NAMED: f"Named {number}"}[option]
        count = sum(any(role.kind.measure == option for role in head_roles) for head_roles in roles_by_head.values())
        name = ROLE_BY_MEASURE[option].name
        return f"{name[0].upper()}{name[1:]} {count}"

    st.pills(
        "Heads",
        options,
        default=only,
        required=True,
        format_func=label,
        **bound("only", "heads-only"),
        label_visibility="collapsed",
        width="content",
    )
    if only == ANY:
        return list(roles_by_head)
    if only == NAMED:
        return [key for key, head_roles in roles_by_head.items() if head_roles]
    return [key for key, head_roles in roles_by_head.items() if any(role.kind.measure == only for role in head_roles)]


def _chosen_columns(atlas: Atlas, view: HeadsView) -> list[Measure]:
    """Draw the choice of the columns; return the chosen ones, or as many default ones as fit."""
    every = present(atlas, *KINDS)
    names = [measure.name for measure in every]
    preferred = [name for name in PREFERRED_MEASURES if name in names]
    usual = [*preferred, *(name for name in names if name not in preferred)][:MAX_DEFAULT_MEASURES]
    chosen = [name for name in names if name in view.columns] or usual
    with st.popover("Columns", icon=":material/view_column:"):
        st.pills(
            "Measures in the table",
            names,
            selection_mode="multi",
            default=chosen,
            format_func={measure.name: measure.label for measure in every}.__getitem__,
            **bound("columns", "heads-columns", convert=lambda picked: () if {*picked} == {*usual} else tuple(picked)),
        )
    return [measure for measure in every if measure.name in chosen]


def _columns(
    atlas: Atlas,
    history: History,
    roles_by_head: dict[HeadIndex, list[Role]],
    rows: list[HeadIndex],
    chosen: HeadIndex,
    measures: list[Measure],
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    columns: dict[str, list[Any]] = {
        "Head": [
            f"{kind.capitalize()} {layer + 1}.{head + 1}" + (" ◂" if (kind, layer, head) == chosen else "")
            for kind, layer, head in rows
        ],
        "Named": [", ".join(role.name for role in roles_by_head[key]) for key in rows],
    }
    config: dict[str, Any] = {
        "Head": st.column_config.TextColumn(width=104, help="The kind of attention, its layer and its head."),
        "Named": st.column_config.TextColumn(width=150, help=ROLE_RULE),
    }
    if history:
        columns["Since step"] = [_since_step(roles_by_head[key], history, key) for key in rows]
        help = "The step of the snapshot since which the head has the first of its names."
        config["Since step"] = st.column_config.NumberColumn(width=82, format="localized", help=help)
    for measure in measures:
        values = [_value(atlas, key, measure.name) for key in rows]
        if all(value is None for value in values):
            continue
        columns[measure.label] = values
        columns[f"± {measure.label}"] = [_value(atlas, key, measure.name, "deviation") for key in rows]
        help = f"{measure.meaning} Unit: {measure.unit}.{_best(atlas, measure)}"
        digits = 3 if measure.unit == "share" else measure.digits
        if measure.unit == "share":
            config[measure.label] = st.column_config.ProgressColumn(
                width=84, format=f"%.{digits}f", min_value=0.0, max_value=1.0, help=help
            )
        else:
            config[measure.label] = st.column_config.NumberColumn(width=84, format=f"%.{digits}f", help=help)
        config[f"± {measure.label}"] = st.column_config.NumberColumn(
            "±", width=56, format=f"%.{digits}f", help=f"Standard deviation over sentences of: {measure.label}."
        )
    return columns, config


def _best(atlas: Atlas, measure: Measure) -> str:
    """Return a sentence with the best head of a measure that compares with gold, and its 95 % interval; "" for others.
    """
    if measure.units is None:
        return ""
    means = [(key, value) for key in places(atlas) if (value := _value(atlas, key, measure.name)) is not None]
    (kind, layer, head), value = (min if measure.smaller_is_better else max)(means, key=lambda mean: mean[1])
    error = float(atlas.heads[kind][measure.name].error[layer, head])
    low, high = max(0.0, value - error), min(1.0, value + error)
    extreme = "Lowest" if measure.smaller_is_better else "Highest"
    where = f"{kind.capitalize()} {layer + 1}.{head + 1}"
    return f" {extreme}: {where}, {value:.3f}, 95\u00a0% interval {low:.3f} to {high:.3f}."


def _since_step(head_roles: list[Role], history: History, key: HeadIndex) -> int | None:
    kind, layer, head = key
    return since_step(head_roles[0], history, kind, (layer, head)) if head_roles else None


def _value(atlas: Atlas, key: HeadIndex, name: str, statistic: str = "mean") -> float | None:
    """Return the mean of a measure, or its "deviation"; None where the head has neither."""
    kind, layer, head = key
    spread = atlas.heads[kind].get(name)
    if spread is None or np.isnan(spread.mean[layer, head]):
        return None
    return float(getattr(spread, statistic)[layer, head])
