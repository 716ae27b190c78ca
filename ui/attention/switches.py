"""Head switches, and their effect on the translation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import streamlit as st

from headlight.analysis.head_changes import LARGEST_FACTOR, HeadChange
from headlight.formatting import signed
from headlight.language import gettext, localized, ngettext, pgettext, translatable, within
from transformer.trace import KINDS, Kind
from ui.attention.picture import ShownTrace
from ui.attention.ranking import ranking
from ui.attention.view import EVERY_HEAD, KIND_NAMES, AttentionView
from ui.state.view import bound, set_view, widget_key
from ui.widgets.sentence import TRANSLATION, difference
from ui.widgets.text import literal

ACTIONS = {"off": translatable("Off"), "uniform": translatable("Uniform"), "scale": translatable("Scaled")}


def switches(traces: ShownTrace) -> None:
    """Draw the section: which heads are changed, the new translation, and which heads matter most."""
    view: AttentionView = st.session_state["view"]
    st.subheader(gettext("Switch heads off"), anchor="switch-heads-off")
    st.caption(gettext("The model translates again with the heads you choose changed."))
    action, factor = _action(view)
    _grid(traces, view, action, factor)
    if traces.forced is not None:
        _effect(traces, view)
    ranking(traces)


def changed(traces: ShownTrace) -> str:
    """Return how many heads are changed, as a note after the translation."""
    count = len(traces.changes)
    return ngettext("with {count} head changed", "with {count} heads changed", count) if count else ""


def _action(view: AttentionView) -> tuple[str, float]:
    first = view.changes[0] if view.changes else HeadChange("cross", 1, 1)
    with st.container(horizontal=True, vertical_alignment="center"):
        action = st.segmented_control(
            gettext("What to do with a head"),
            list(ACTIONS),
            default=first.action,
            required=True,
            format_func=lambda name: gettext(ACTIONS[name]),
            **bound("changes", "action", convert=_redone),
            help=gettext(
                "Off: the head's output is zero. Uniform: uniform attention, the same weight on every token. Scaled: "
                "its weights are multiplied, so it contributes that multiple of its output."
            ),
        )
        factor = first.factor
        if action == "scale":
            factor = st.slider(
                gettext("Factor"),
                0.0,
                LARGEST_FACTOR,
                first.factor,
                0.25,
                **bound("changes", "factor", convert=partial(_redone, "scale")),
                width=160,
            )
    return str(action), factor


def _redone(action: str, factor: float = 0.5) -> tuple[HeadChange, ...]:
    """Return the heads that are changed already, with another action."""
    view: AttentionView = st.session_state["view"]
    return tuple(replace(change, action=action, factor=factor) for change in view.changes)


def _grid(traces: ShownTrace, view: AttentionView, action: str, factor: float) -> None:
    """Draw a row of head numbers for each layer of a kind; those that are changed are lit."""
    names = [gettext(KIND_NAMES[kind]) for kind in KINDS]
    tabs = st.tabs(names, default=gettext(KIND_NAMES[view.kind]), on_change="rerun", key=widget_key("off-kinds"))
    for kind, tab in zip(KINDS, tabs, strict=True):
        if tab.open:
            with tab:
                _layers(traces, view, kind, action, factor)
    if view.changes:
        counts = Counter(change.kind for change in view.changes)
        of_kinds = ", ".join(f"{count} {within(gettext(KIND_NAMES[kind]))}" for kind, count in counts.items())
        st.caption(gettext("Changed: {heads}.", heads=of_kinds))
        st.button(
            ngettext("Switch it on again", "Switch all {count} on again", len(view.changes)),
            key=widget_key("on-again"),
            icon=":material/undo:",
            on_click=_clear,
        )


def _layers(traces: ShownTrace, view: AttentionView, kind: Kind, action: str, factor: float) -> None:
    n_layers, n_heads = traces.plain.pattern(kind).shape[:2]
    pruned = traces.pruned(kind)
    changed_heads = {(c.layer, c.head) for c in view.changes if c.kind == kind}
    heads_by_layer = {
        layer: [head for head in range(1, n_heads + 1) if (layer - 1, head - 1) not in pruned]
        for layer in range(1, n_layers + 1)
    }
    for layer, heads in heads_by_layer.items():
        binding = bound("changes", f"off-{kind}-{layer}", convert=partial(_changed_layer, kind, layer, action, factor))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":gray[{gettext('layer {layer}', layer=layer)}]", width=56)
            if not heads:
                st.caption(gettext("all pruned"))
                continue
            st.pills(
                gettext("Heads of {kind} layer {layer} to change", kind=within(gettext(KIND_NAMES[kind])), layer=layer),
                heads,
                selection_mode="multi",
                default=[head for head in heads if (layer, head) in changed_heads],
                format_func=lambda head: gettext("head {head}", head=head),
                **binding,
                label_visibility="collapsed",
                width="content",
            )
            st.button(
                pgettext("heads", "all"),
                key=f"{binding['key']}-all",
                help=gettext("Change every head of this layer"),
                type="tertiary",
                on_click=_set,
                args=(kind, {layer: heads}, action, factor),
            )
    st.button(
        gettext(EVERY_HEAD[kind]),
        key=widget_key(f"off-{kind}"),
        on_click=_set,
        args=(kind, heads_by_layer, action, factor),
    )


def _changed_layer(kind: str, layer: int, action: str, factor: float, heads: list[int]) -> tuple[HeadChange, ...]:
    """Return the changed heads with these `heads` of a layer, and none of its others."""
    view: AttentionView = st.session_state["view"]
    unchanged = [c for c in view.changes if (c.kind, c.layer) != (kind, layer)]
    return (*unchanged, *(HeadChange(kind, layer, head, action, factor) for head in sorted(heads)))


def _set(kind: str, heads: dict[int, list[int]], action: str, factor: float) -> None:
    """Change the `heads` of each layer, {layer: heads}, and none of its others."""
    for layer, of_layer in heads.items():
        set_view(changes=_changed_layer(kind, layer, action, factor, of_layer))


def _clear() -> None:
    view: AttentionView = st.session_state["view"]
    set_view(changes=(), show="raw" if view.show == "difference" else view.show)


def _effect(traces: ShownTrace, view: AttentionView) -> None:
    """Describe what the changes did: to the text, and to the log-probability of what was written without them."""
    assert traces.forced is not None
    side = gettext(str(traces.model.card.get("target", TRANSLATION)))
    if view.target is None:
        st.caption(gettext("{language}, with the heads changed", language=side))
        if traces.trace.translation == traces.plain.translation:
            st.markdown(f"{literal(traces.plain.translation)} :gray[{gettext('(the same)')}]")
        else:
            difference(traces.plain.translation, traces.trace.translation)
    before, after = traces.plain.log_prob, traces.forced.log_prob
    with st.container(horizontal=True):
        help = gettext("The sequence log-probability of the translation that the unchanged model wrote.")
        both = gettext("{number} nats", number=f"{signed(before)} → {signed(after)}")
        st.metric(gettext("Log-probability of the original"), both, width="content", help=help)
        help = gettext(
            "In nats, the unit of a natural logarithm. A fall of 1 nat makes it {times} times less likely.",
            times=localized("2.7"),
        )
        change = gettext("{number} nats", number=signed(after - before, plus=True))
        st.metric(gettext("Change"), change, width="content", help=help)
    if view.show != "difference":
        st.button(
            gettext("Show the difference in every cell"),
            icon=":material/difference:",
            key=widget_key("show-difference"),
            on_click=set_view,
            kwargs={"show": "difference"},
        )
