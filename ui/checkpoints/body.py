"""The page's body, one of three: the list with one model, two models, or the import."""

from __future__ import annotations

import streamlit as st

from headlight.glossary import explained
from headlight.viewer.packing import pack
from ui.checkpoints import compare, import_
from ui.checkpoints.listing import ListedModel, entries
from ui.checkpoints.model import model
from ui.checkpoints.view import CheckpointsView
from ui.state.public import public
from ui.state.view import set_view, update
from ui.viewer.component import component
from ui.widgets.text import literal

_MODELS = component("models", "mountModels", "shared", "icons", "models", styles=("checkpoints",))


def back_button(view: CheckpointsView) -> None:
    """Draw the way back to the list of models."""
    if view.importing or view.beside:
        close = {"beside": None, "importing": False}
        st.button("Back to the models", icon=":material/arrow_back:", key="back", on_click=set_view, kwargs=close)


def body(view: CheckpointsView) -> None:
    import_.done_note()
    if view.importing:
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
    _draw_list(all_entries, chosen, view)
    if chosen is not None:
        st.space("medium")
        model(chosen)


def _chosen(entries: list[ListedModel], view: CheckpointsView) -> ListedModel | None:
    """Return the model of the view, else the first that can be opened, else the first."""
    by_name = {entry.name: entry for entry in entries}
    unbroken = [entry for entry in entries if not entry.broken]
    return by_name.get(view.model or "", next(iter(unbroken or entries), None))


def _draw_list(entries: list[ListedModel], chosen: ListedModel | None, view: CheckpointsView) -> None:
    """Draw the list; a click on a line opens its model."""
    names = {entry.name for entry in entries if not entry.broken}
    header = {
        "models": [entry.row() for entry in entries],
        "selected": chosen.name if chosen else None,
        "closed": public(),  # nothing can be imported
        "ticked": [name for name in view.ticked if name in names],
    }
    _MODELS(data=pack(header, {}), key="shelf", on_pick_change=_picked)
    if any(entry.score for entry in entries):
        st.caption(
            explained(
                "Scores are BLEU or, with %, the share translated exactly right. They compare only on the same test "
                "set: open a model to see its test set.",
                "BLEU",
            )
        )


def _picked() -> None:
    match st.session_state["shelf"].get("pick"):
        case {"open": str(name)}:
            # It may read another language, so of the view only how things are drawn is kept.
            set_view(model=name, text=None, target=None, beside=None, importing=False)
        case {"tick": [*names]} if all(isinstance(name, str) for name in names):
            update(ticked=tuple(names[:2]))
        case {"compare": [str(first), str(second)]}:
            update(model=first, text=None, target=None, ticked=(first, second))
            set_view(beside=second, beside_layer=None, beside_head=None)
        case {"import": True} if not public():
            set_view(importing=True)
