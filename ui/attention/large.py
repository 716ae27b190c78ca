"""The chosen head, large: its picture, its notes, and its numbers as a table."""

from __future__ import annotations

import numpy as np
import streamlit as st

from headlight.formatting import percent
from headlight.glossary import explained
from headlight.language import gettext, localized
from ui.attention.picture import SHOW_HELP, Panel
from ui.attention.view import AttentionView
from ui.state.view import update
from ui.viewer import Labels, MarkedCell, Shows, big_head
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import pattern_table

FAINT_SHARE = 0.2  # of the scale: rows that reach no higher look empty


def large_head(
    large: Panel,
    view: AttentionView,
    *,
    key: str = "head",
    title: str = "",
    first: bool = True,
    partner: Panel | None = None,
) -> None:
    """Draw the chosen head with its notes, under its own name or a `title`.

    The `first` picture follows the overview, and its tokens can be held. `partner` is drawn next to it, with cells of
    the same size.
    """
    layout = large.layout
    big_head(
        large.cells,
        layout.rows,
        layout.columns,
        layout.masked,
        key=key,
        rows_read=layout.reads,
        scale=view.scale,  # type: ignore[arg-type]
        peak=large.limit,
        signed=large.signed,
        name=large.name,
        title=(title or large.title, large.note),
        shows=_foreseen(large, view) if first else None,
        held=held_cell(view) if first else None,
        on_held=hold if first else None,
        beside=None if partner is None else labels_of(partner),
    )
    if SHOW_HELP[large.show]:
        st.caption(gettext(SHOW_HELP[large.show]))
    strongest = float(np.median(large.cells.max(axis=1)))
    if view.scale == "fixed" and not large.signed and 0 < strongest < FAINT_SHARE * large.limit:
        st.caption(
            gettext(
                "Half of the rows have no {weight} above {number}, so the colours are faint: scale by row or take the "
                "square root to see more.",
                weight=large.name,
                number=localized(f"{strongest:.2g}"),
            )
        )
    if layout.hidden.any() or layout.hidden_rows.any():
        text = gettext("The rows and columns of special tokens are hidden.")
        if not large.off:
            share = percent(large.hidden)
            text += " " + gettext("{share} of the weight of the rows that are left is on hidden columns.", share=share)
        st.caption(explained(text, "special token"))
    table = gettext("query"), layout.rows, layout.columns, large.cells, layout.masked, f"{key}-table"
    draw_when_open(gettext("As a table"), f"{key}-as-table", pattern_table, *table)


def labels_of(large: Panel) -> Labels:
    """Return the labels around a picture."""
    return {"rows": large.layout.rows, "columns": large.layout.columns, "rows_read": large.layout.reads}


def _foreseen(large: Panel, view: AttentionView) -> Shows | None:
    """Return the thumbnail of the overview that has the same weights on the same scale; None if there is none."""
    if large.show != "raw" or large.limit > 1:
        return None
    return {"kind": view.kind, "place": (large.layer, large.head)}


def held_cell(view: AttentionView) -> MarkedCell:
    """Return the row and the column, from 0, that the view holds."""
    row, column = (None if at is None else at - 1 for at in (view.row, view.column))
    return None if row is column is None else (row, column)


def hold(cell: MarkedCell) -> None:
    """Hold the row and the column of a cell, from 0, in the view; None releases both."""
    row, column = (None if at is None else at + 1 for at in cell or (None, None))
    update(row=row, column=column)
