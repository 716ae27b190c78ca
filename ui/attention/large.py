"""The chosen head, large: its picture, what to say of it, and its numbers as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from transformer import charts
from ui.attention.picture import SHOW_HELP, Panel
from ui.attention.view import AttentionView
from ui.viewer import big_head
from ui.viewer.plot import Shows, plot

CANVAS_FROM = 256  # tokens; a Plotly heatmap of more than that is slow
FAINT = 0.2  # of the scale: rows that reach no higher look empty


def large_head(large: Panel, view: AttentionView, *, key: str = "head", foreseen: bool = True) -> None:
    """The chosen head with its notes. `foreseen` is whether it shows at once what is picked in the overview."""
    place, what = large.place, large.note
    if max(large.cells.shape) >= CANVAS_FROM and not large.signed:
        st.markdown(f"**{large.title}** :gray[{what}]" if what else f"**{large.title}**")
        big_head(
            large.cells,
            place.rows,
            place.columns,
            place.masked,
            key=f"{key}-canvas",
            rows_read=place.reads,
            scale=view.scale,  # type: ignore[arg-type]
            peak=large.limit,
        )
    else:
        shows = _foreseen(large, view) if foreseen else None
        with st.container(key=key):
            plot(_figure(large, view), key=f"{key}-plot", title=(large.title, what), shows=shows)
    if SHOW_HELP[large.show]:
        st.caption(SHOW_HELP[large.show])
    strongest = float(np.median(large.cells.max(axis=1)))
    if view.scale == "fixed" and not large.signed and 0 < strongest < FAINT * large.limit:
        st.caption(
            f"Half of the rows have no {large.name} above {strongest:.2g}, so the colours are faint: scale by row or "
            "take the square root to see more."
        )
    if place.hidden.any() or place.hidden_rows.any():
        left = "" if large.off else f" {large.hidden:.0%} of the weight of the rows that are left is on hidden columns."
        st.caption(f"The rows and columns of special tokens are hidden.{left}")
    twin = st.expander("As a table", key=f"{key}-twin", on_change="rerun")
    if twin.open:
        with twin:
            _twin(large, key)


def _foreseen(large: Panel, view: AttentionView) -> Shows | None:
    """What the overview's thumbnails are a picture of too: weights as they are, on the same scale."""
    if large.show != "raw" or large.limit > 1:
        return None
    rows, columns = large.cells.shape
    return {"kind": view.kind, "scale": view.scale, "place": (large.layer, large.head), "shape": (rows, columns)}


def _twin(large: Panel, key: str) -> None:
    """The picture's numbers; a masked cell is empty."""
    place = large.place
    table: dict[str, list[Any]] = {"query": list(place.rows)}
    for k, label in enumerate(place.columns):
        gone = place.masked[:, k].tolist()
        table[label] = [None if off else cell for cell, off in zip(large.cells[:, k].tolist(), gone, strict=True)]
    numbers = {label: st.column_config.NumberColumn(format="%.3f") for label in place.columns}
    st.dataframe(table, hide_index=True, column_config=numbers, key=f"{key}-twin-table")


def _figure(large: Panel, view: AttentionView) -> charts.Spec:
    place = large.place
    options: dict[str, Any] = {
        "masked": place.masked,
        "reads": place.reads or (),
        "theme": st.context.theme.type or "light",
        "width": 440,
    }
    if large.signed:
        figure = charts.difference_spec(large.cells, place.rows, place.columns, **options)
    else:
        scaled: dict[str, Any] = {"scale": view.scale, "name": large.name, "limit": large.limit}
        figure = charts.pattern_spec(large.cells, place.rows, place.columns, **scaled, **options)
    del figure["layout"]["width"]  # the column's own
    return figure
