"""The map of the network, and below it the part that is open."""

from __future__ import annotations

import streamlit as st

from headlight.analysis.network import NetworkPart, network
from headlight.glossary import explained
from ui.anatomy import components, cost, exercises, head, others, relatives
from ui.anatomy.chosen import choose, stack_of
from ui.anatomy.facts import formula, shape, title
from ui.anatomy.payloads import map_payload
from ui.anatomy.view import AnatomyView
from ui.state import models
from ui.state.models import translator
from ui.state.view import settle, update, write_address


@st.fragment
def draw_network(name: str, text: str, target: str | None) -> None:
    """Draw the map and the open part.

    A fragment's arguments live as long as the page, so they only name the trace: the cache alone keeps traces.
    """
    view: AnatomyView = st.session_state["view"]
    model, trace = translator(name).model, models.trace(name, text, target)
    parts = network(model, len(trace.source), len(trace.reads))
    chosen = choose(view, name, trace, parts)
    if chosen.part.name == "attention":
        settle(head=chosen.head + 1)
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.subheader("The network", anchor="network", width="content")
        popover = st.popover(
            "As a table", icon=":material/table:", type="tertiary", key="parts-as-table", on_change="rerun"
        )
    st.caption(
        explained(
            "The figure of the paper on its side: each line is a residual stream; each sublayer reads from it and adds "
            "to it. The small bars are layer norms. Click a part to open it.",
            "residual stream",
            "layer norm",
        )
    )
    opened = chosen.part  # the callback stays with the page, so it has no trace
    components.network_map(
        map_payload(parts, model.config, chosen),
        key="map",
        on_pick=lambda index, picked: _open(parts, opened, index, picked),
    )
    if popover.open:
        with popover:
            _table(parts, [title(part, model.config) for part in parts])
    st.space("small")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        attention = chosen.part.name == "attention"
        has_heads = attention and chosen.attention.remaining
        st.subheader(
            title(chosen.part, model.config) + (f", head {chosen.head + 1}" if has_heads else ""),
            anchor="part",
            width="content",
        )
        st.latex(formula(chosen.part, model.config), width="content")
    if attention:
        head.draw(chosen)
    else:
        others.draw(chosen)
    exercises.offer(chosen.part, model.config)
    if attention:
        cost.offer(chosen)
        relatives.offer(chosen)
    write_address()


def _open(parts: list[NetworkPart], before: NetworkPart, index: int, picked: int | None) -> None:
    """Open another part; a key or a token that does not exist there is reset."""
    if not 0 <= index < len(parts):
        return
    part = parts[index]
    changes: dict[str, object] = {"part": part.name, "kind": part.kind}
    if part.layer is not None:
        changes["layer"] = part.layer + 1
    if picked is not None:
        changes["head"] = picked + 1
    if part.kind != before.kind:
        changes["key"] = None
    if stack_of(part.kind) != stack_of(before.kind):
        changes["query"] = None
    update(**changes)


def _table(parts: list[NetworkPart], titles: list[str]) -> None:
    st.dataframe(
        {
            "Part": titles,
            "Reads": [" and ".join(map(shape, part.reads)) for part in parts],
            "Gives": [shape(part.gives) for part in parts],
            "Parameters": [part.parameters for part in parts],
            "Shared": [part.shared for part in parts],
        },
        hide_index=True,
        key="parts-table",
        width=780,
    )
    st.caption(f"{sum(part.parameters for part in parts):,} parameters in all; shared ones count once.")
