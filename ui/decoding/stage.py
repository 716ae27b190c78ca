"""The parts of the Decoding page: the choice of a strategy with its settings, and what follows the step.

The player, the table of a step, the branches and the reference follow the step.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.glossary import explained
from headlight.language import gettext, ngettext, within
from transformer import Translator
from transformer.decoding.strategies import STRATEGIES, Decoding, Parameter
from transformer.tokenizers import number_duplicates
from ui.decoding.downloads import export
from ui.decoding.player import branch_cards, horizon, player, shown_head, shown_node
from ui.decoding.reference import reference
from ui.decoding.search import Search, TracedHypothesis, fitting, line, search
from ui.decoding.view import FATES, Branch, DecodingView
from ui.state.view import bound, update, write_address
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.table import number_table

MAX_SLIDER_VALUE = 100  # a parameter that goes beyond is typed, not dragged


def controls(view: DecodingView) -> None:
    """Draw the choice of a strategy and its own settings, side by side where there is room."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        labels = {name: gettext(strategy.label) for name, strategy in STRATEGIES.items()}
        help_text = " ".join(f"{labels[name]}: {within(gettext(each.help))}" for name, each in STRATEGIES.items())
        choose(view, "strategy", gettext("Strategy"), labels, help=help_text)
        parameters = STRATEGIES[view.strategy].parameters
        for parameter in parameters:
            _control(view, parameter, width=125 if len(parameters) < 4 else 108)


def _control(view: DecodingView, parameter: Parameter, width: int) -> None:
    shared = bound(parameter.field, convert=_rounded) | {"help": gettext(parameter.help), "width": width}
    bounds: Any = (parameter.least, parameter.most, view.value(parameter))
    if parameter.most > MAX_SLIDER_VALUE:
        st.number_input(gettext(parameter.label), *bounds, placeholder=gettext("all"), **shared)
    else:
        st.slider(gettext(parameter.label), *bounds, step=parameter.step, **shared)


def _rounded(value: float | None) -> float | None:
    """Return a widget's value without the binary error of a slider's fractions: 0.30000000000000004."""
    return round(value, 2) if isinstance(value, float) else value


@st.fragment
def stage(name: str, text: str, model: Translator, decoding: Decoding, actions: DeltaGenerator) -> None:
    """Draw what follows the step; downloads go to `actions`.

    A fragment's arguments live as long as the page, and beyond. So they only name the decode, and the fragment reads it
    from the cache, which bounds the memory of all pages together.
    """
    view: DecodingView = st.session_state["view"]
    with plain_errors():
        decode = search(name, text, decoding)
        player(name, text, model, decode)
        label = gettext("This step and every hypothesis as tables")
        draw_when_open(label, "decoding-as-table", _as_table, decode, view)
        branches = _branches(name, text, model, decode, view)
        with actions:
            export(name, text, model, decode, branches, view)
        reference(name, text, model, decode, view)
    write_address()


def _as_table(decode: Search, view: DecodingView) -> None:
    """Draw the step and every hypothesis in numbers."""
    _step_table(decode, view)
    st.caption(explained(gettext("Every hypothesis"), "hypothesis"))
    _tree_table(decode, horizon(decode, view))


def _step_table(decode: Search, view: DecodingView) -> None:
    """Draw the attention weights of the step that is shown."""
    node, _ = shown_node(decode, view)
    layer, head = shown_head(decode, view)
    path = decode.tree.path(node)
    answer = decode.answers[path[-2]]
    at = slice(layer, layer + 1), slice(head, head + 1)
    cross, decoder = (kind.rows([answer], *at)[0, 0, 0] for kind in (decode.cross, decode.decoder))
    decoder = decoder[: len(path) - 1]
    words, most_attended = number_duplicates(decode.source.labels), int(cross.argmax())
    top, bottom = (min(at, size - 1) for at, size in zip((layer, head), decode.encoder.shape, strict=False))
    numbers = {"step": len(path) - 1, "layer": layer + 1, "head": head + 1}
    st.caption(gettext("Step {step}, layer {layer}, head {head}", **numbers))
    source_column, target_column = st.columns(2)
    with source_column:
        read = gettext("Encoder, from {token}", token=words[most_attended])
        encoder = decode.encoder[top, bottom, most_attended]
        number_table({gettext("Source"): words, gettext("Cross"): cross, read: encoder}, 3, "step-source")
    with target_column:
        written = [decode.labels[i] for i in path[:-1]]
        number_table({gettext("Written so far"): written, gettext("Decoder"): decoder}, 3, "step-written")


def _tree_table(decode: Search, last: int | None) -> None:
    """Draw the nodes up to the step `last`, at which their fate is not known yet; None is the end."""
    tree, labels = decode.tree, decode.labels
    indices = [i for i in range(1, len(tree.nodes)) if last is None or tree.nodes[i].step <= last]
    nodes = [tree.nodes[i] for i in indices]
    table: dict[str, list[Any]] = {
        gettext("Step"): [node.step for node in nodes],
        gettext("Token"): [labels[i] for i in indices],
        gettext("After"): [" ".join(labels[j] for j in tree.path(i)[:-1][-6:]) for i in indices],
        gettext("Log-probability"): [node.log_prob for node in nodes],
        gettext("Cumulative log-probability"): [node.total for node in nodes],
        gettext("Score"): [node.score for node in nodes],
    }
    if last is None:
        table[gettext("Outcome")] = [gettext(FATES[node.outcome]) for node in nodes]
    numbers = (gettext("Log-probability"), gettext("Cumulative log-probability"), gettext("Score"))
    columns = {label: st.column_config.NumberColumn(format="%.4g") for label in numbers}
    st.dataframe(table, hide_index=True, column_config=columns, key="tree-table")


def _branches(
    name: str, text: str, model: Translator, decode: Search, view: DecodingView
) -> list[tuple[Branch | None, TracedHypothesis]]:
    """Draw each branch next to the original decode; return them for the export."""
    fit = fitting(model, decode.source.ids, view.branches)
    lines: list[tuple[Branch | None, TracedHypothesis]] = [(None, decode.best)]
    if not fit:
        text_of_branches = gettext(
            "What if it had written something else? Click another candidate, or point a step at another source word: "
            "the decode continues from there, beside this one."
        )
        st.caption(f":material/alt_route: {explained(text_of_branches, 'candidate')}")
        return lines
    if horizon(decode, view) is not None:
        hidden = ngettext(
            "{count} branch hidden: beside the whole sentences, until the last step is reached or what comes later is "
            "shown.",
            "{count} branches hidden: beside the whole sentences, until the last step is reached or what comes later "
            "is shown.",
            len(fit),
        )
        st.caption(f":material/visibility_off: {hidden}")
        return lines
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader(gettext("What if?"), anchor="what-if", width="content")
        if len(fit) > 1:
            label = ngettext("Close {count} branch", "Close all {count} branches", len(fit))
            st.button(label, icon=":material/close:", key="close-all", on_click=update, kwargs={"branches": ()})
    st.caption(
        gettext(
            "The model continues from the change. Bold: tokens that the other decode does not have. Click a token to "
            "see its attention."
        )
    )
    with plain_errors():
        lines += [(branch, line(name, text, decode.decoding, branch)) for branch in fit]
        branch_cards(model, decode, lines)
    return lines
