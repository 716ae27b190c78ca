"""Roles of heads over a corpus: those of the chosen head, and the way to the head of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from transformer.trace import Kind
from ui.attention.picture import Panel, ShownTrace
from ui.attention.view import AttentionView
from ui.state.public import without_places
from ui.state.view import reseed, update
from ui.widgets.text import literal

if TYPE_CHECKING:
    from ui.state.atlases import Roles


def corpus_roles(shown: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the roles of the chosen head, as on the Heads page, and a button for the clearest head of each role."""
    # Imported late: behind it are the measures over a corpus, for which the first page would wait.
    from ui.state.atlases import EXAMPLES, known_roles

    roles = known_roles(shown.name)
    if roles is None:
        return
    if shown.changes or view.broken:
        st.caption("What is known of the heads from a corpus holds for the model as it is, not with these changes.")
        return
    here = roles.of.get((view.kind, large.layer, large.head), [])
    for role in here:
        text = str(role)
        st.markdown(f":small[:material/label: {literal(text[0].upper() + text[1:])}.]")
    corpus = "its own examples" if roles.corpus == EXAMPLES else without_places(roles.corpus)
    where = f"Over {roles.pairs:,} sentences of {literal(corpus)}, with all heads on"
    st.caption(f"{where}." if here else f"{where}, no measure shows clearly what this head does.")
    if roles.of:
        st.caption("Take me to the head that looks at the")
        with st.container(horizontal=True, gap="small", key="roles"):
            _ways(roles)


def _ways(roles: Roles) -> None:
    for what, ((kind, layer, head), role) in roles.clearest.items():
        st.button(
            role.what.looks_at or role.name,
            key=f"role-{what}",
            help=f"{kind.capitalize()}, layer {layer + 1}, head {head + 1} {role}",
            on_click=_go,
            args=(kind, layer, head),
        )


def _go(kind: Kind, layer: int, head: int) -> None:
    update(kind=kind, layer=layer + 1, head=head + 1, lines=())
    reseed()
