"""The page's body, one of three: the list with one model, two models, or the import."""

from __future__ import annotations

import streamlit as st

from ui.checkpoints import compare, import_
from ui.checkpoints.listing import ListedModel, entries
from ui.checkpoints.model import model
from ui.checkpoints.shelf import shelf
from ui.checkpoints.view import CheckpointsView
from ui.state.view import set_view
from ui.widgets.text import literal


def back_button(view: CheckpointsView) -> None:
    """Draw the way back to the shelf."""
    if view.bring or view.beside:
        close = {"beside": None, "bring": False}
        st.button("Back to the models", icon=":material/arrow_back:", key="back", on_click=set_view, kwargs=close)


def body(view: CheckpointsView) -> None:
    import_.done_note()
    if view.bring:
        import_.draw_import()
        return
    all_entries = entries()
    if view.beside:
        compare.draw_compare(all_entries, view)
        return
    chosen = _chosen(all_entries, view)
    if chosen is not None and view.model not in (None, chosen.name):
        st.caption(
            f":material/info: There is no model “{literal(view.model or '')}” here; this is {literal(chosen.name)}."
        )
    shelf(all_entries, chosen, view)
    if chosen is not None:
        st.space("medium")
        model(chosen)


def _chosen(entries: list[ListedModel], view: CheckpointsView) -> ListedModel | None:
    """Return the model of the view, else the first."""
    by_name = {entry.name: entry for entry in entries}
    return by_name.get(
        view.model or "", next((entry for entry in entries if not entry.broken), next(iter(entries), None))
    )
