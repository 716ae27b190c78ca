"""Roles of heads over a corpus: those of the chosen head, and the way to the head of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from headlight.language import gettext, localized
from ui.attention.picture import Panel, ShownTrace
from ui.attention.view import AttentionView, head_of_kind
from ui.state.public import without_places
from ui.state.view import set_view
from ui.widgets.text import literal

if TYPE_CHECKING:
    from ui.state.atlases import Roles


def corpus_roles(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the roles of the chosen head, as on the Heads page, and a button for the clearest head of each role."""
    # Imported late: behind it are the measures over a corpus, for which the first page would wait.
    from ui.state.atlases import known_roles

    roles = known_roles(traces.name)
    if roles is None:
        return
    if traces.changes or view.broken:
        st.caption(
            gettext("What is known of the heads from a corpus holds for the model as it is, not with these changes.")
        )
        return
    here = roles.of.get((view.kind, large.layer, large.head), [])
    for role in here:
        text = str(role)
        st.markdown(f":small[:material/label: {literal(text[0].upper() + text[1:])}.]")
    facts = corpus_facts(roles)
    if here:
        st.caption(gettext("Over {count} sentences of {corpus}, with all heads on.", **facts))
    else:
        st.caption(
            gettext(
                "Over {count} sentences of {corpus}, with all heads on, no measure shows clearly what this head does.",
                **facts,
            )
        )
    if roles.of:
        # Translators: buttons follow, as "word that is translated".
        st.caption(gettext("Take me to the head that looks at the"))
        with st.container(horizontal=True, gap="small", key="roles"):
            _role_buttons(roles)


def corpus_facts(roles: Roles) -> dict[str, str]:
    """Return the number of the sentences that roles were measured over, and the name of their corpus."""
    from ui.state.atlases import EXAMPLES

    corpus = gettext("its own examples") if roles.corpus == EXAMPLES else literal(without_places(roles.corpus))
    return {"count": localized(f"{roles.pairs:,}"), "corpus": corpus}


def _role_buttons(roles: Roles) -> None:
    for what, ((kind, layer, head), role) in roles.clearest.items():
        st.button(
            gettext(role.kind.looks_at or role.name),
            key=f"role-{what}",
            help=f"{head_of_kind(kind, layer + 1, head + 1)} {role}",
            on_click=set_view,
            kwargs={"kind": kind, "layer": layer + 1, "head": head + 1, "lines": ()},
        )
