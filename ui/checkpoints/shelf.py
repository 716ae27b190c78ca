"""The list of models, with what can be done from it."""

from __future__ import annotations

import streamlit as st

from headlight.glossary import explained
from headlight.viewer.packing import pack
from ui.checkpoints.listing import ListedModel
from ui.checkpoints.view import CheckpointsView
from ui.state.public import public
from ui.state.view import set_view, update
from ui.viewer.component import component

_MODELS = component("models", "mountModels", "shared", "icons", "models", styles=("checkpoints",))


def shelf(entries: list[ListedModel], chosen: ListedModel | None, view: CheckpointsView) -> None:
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
            set_view(model=name, text=None, target=None, beside=None, bring=False)
        case {"tick": [*names]} if all(isinstance(name, str) for name in names):
            update(ticked=tuple(names[:2]))
        case {"compare": [str(first), str(second)]}:
            update(model=first, text=None, target=None, ticked=(first, second))
            set_view(beside=second, beside_layer=None, beside_head=None)
        case {"bring": True} if not public():
            set_view(bring=True)
