"""Every head, the chosen one large, and its lines: the middle of the Attention page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.analysis.description import PRUNED_NOTE
from headlight.analysis.layout import Layout, descriptions
from headlight.analysis.measures import MEASURES, HeadValues, Measure
from headlight.formatting import signed
from headlight.glossary import explained, term
from headlight.language import gettext, localized, ngettext, translatable, within
from headlight.viewer.export import CAUTION
from transformer.trace import KINDS
from ui.attention.downloads import export
from ui.attention.faithful import faithful
from ui.attention.large import held_cell, hold, large_head
from ui.attention.picture import SHOWS, Panel, ShownTrace, panel
from ui.attention.roles import corpus_roles
from ui.attention.second import checks, compare
from ui.attention.view import KIND_NAMES, AttentionView
from ui.attention.word_alignment import word_alignment
from ui.state.view import bound, settle, update, widget_key, write_address
from ui.state.why_measured import ATTENTION, why_measured
from ui.viewer import EveryHead, Kinds, LinesState, Profile, lines, overview, pack_kinds
from ui.widgets.controls import choose
from ui.widgets.disclosure import behind_button
from ui.widgets.similar_tokens import similar_tokens
from ui.widgets.table import clickable_table
from ui.widgets.why_there import why_there

KIND_TERMS = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
SCALES = {
    "fixed": translatable("Scale 0 to 1"),
    "row": translatable("Scale by row"),
    "sqrt": translatable("Square root"),
}


def _controls(traces: ShownTrace, view: AttentionView) -> None:
    """Draw the controls of the picture: which attention, what of it, and how it is coloured and labelled."""
    choose(
        view,
        "kind",
        gettext("Attention"),
        {kind: gettext(KIND_NAMES[kind]) for kind in KINDS},
        hide_label=True,
        **bound("kind", row=None, column=None),  # a held cell is one of the tokens shown before
        help=gettext(
            "Encoder: self-attention of the source. Decoder: self-attention of the translation to itself, up to the "
            "token that is read. Cross: cross-attention of the translation to the source."
        ),
    )
    st.space("stretch")
    shows = {name: gettext(text) for name, text in SHOWS.items() if name != "difference" or traces.forced is not None}
    show = view.show if view.show in shows else next(iter(shows))
    choose(view, "show", gettext("Show"), shows, show, menu=True, hide_label=True, width=165)
    scales = {name: gettext(text) for name, text in SCALES.items()}
    choose(view, "scale", gettext("Scale"), scales, menu=True, hide_label=True, width=185)
    for field, label in (("words", gettext("Whole words")), ("hide", gettext("Hide special"))):
        st.checkbox(label, getattr(view, field), **bound(field, row=None, column=None))


def _describe_settings(view: AttentionView, large: Panel) -> str:
    """Describe the settings of the controls in a line: "Cross, layer 2, head 3, whole words"; defaults are left out."""
    scale = "" if view.scale == "fixed" else within(gettext(SCALES[view.scale]))
    tokens = [gettext("whole words")] * view.words + [gettext("special tokens hidden")] * view.hide
    return ", ".join(filter(None, [gettext(KIND_NAMES[view.kind]), within(large.title), large.note, scale, *tokens]))


@st.fragment
def heads(
    traces: ShownTrace,
    second: ShownTrace | None = None,
    actions: DeltaGenerator | None = None,
    numbers: DeltaGenerator | None = None,
) -> None:
    """Draw the overview, the chosen head and its lines, or next to it the same head in a second sentence.

    The downloads go to `actions` and the table to `numbers`. Without them `traces` are those of an example while the
    reader's sentence waits its turn, and only the pictures are drawn. This is a fragment, so that choosing a head
    redraws only these parts, and the same one for both cases, so that a head chosen while waiting stays chosen.
    """
    view: AttentionView = st.session_state["view"]
    if actions is None or numbers is None:
        _pictures(traces, replace(view, row=None, column=None))
        return
    bar = st.container()
    layout, values = traces.measured(view.kind, view.words, view.hide)
    large = panel(traces, view, layout)
    settle(layer=large.layer + 1, head=large.head + 1)
    if second is None:
        left, middle, right = _three_columns()
        with middle:  # first, so that it is painted first
            large_head(large, view)
    else:
        with st.container():
            compare(traces, second, view, large)
        left, middle = st.columns([28, 72], gap="medium")
    with middle:
        st.caption(
            f":material/info: {gettext(CAUTION)} "
            + gettext("To see what a head is for, [switch it off](#switch-heads-off).")
            + f" {token_agreement_over_corpus(traces.name)}[{gettext('Why did it write this word?')}]"
            + f"({view.link('why', 'model', 'text', 'target', 'changes')})"
        )
        faithful(traces)
        _why_there(traces, view, large)
        word_alignment(traces, view, large)
    with left:
        _overview(traces, view, large)
        roles = st.container()
    if second is None:
        with right:
            _lines(traces, view, layout, large)
            checks_container = st.container()
    else:
        with middle:
            st.caption(gettext("Lines are drawn for one sentence only: close the second to see them."))
    with bar, behind_button("attention-controls", _describe_settings(view, large)):
        _controls(traces, view)
    with numbers:
        _table(traces, view, large, layout, values)
    with actions:
        export(traces, view, large)
    if second is None:
        with checks_container:
            checks(traces)
    _similar(traces, view, large)
    with roles:  # last, since what was measured over a corpus may have to be read first
        corpus_roles(traces, view, large)
    write_address()


def _why_there(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw why the chosen head looks from one held token at the other, where tokens and weights are as they are."""
    if view.words or view.hide or view.show != "raw" or traces.without_weights(view.kind, large.layer, large.head):
        return
    head = large.layer, large.head
    why_there(traces.name, traces.trace, view.kind, head, _held_tokens(view, large), traces.taps)


def _similar(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the corpus tokens most similar to the held token; a merged word has no single vector to compare."""
    cell = (None, None) if view.words or view.hide else _held_tokens(view, large)
    similar_tokens(traces.name, traces.trace, view.kind, (large.layer, large.head), cell, traces.taps)


def _held_tokens(view: AttentionView, large: Panel) -> tuple[int | None, int | None]:
    n_rows, n_columns = large.cells.shape
    row, column = held_cell(view) or (None, None)
    return row if row is None or row < n_rows else None, column if column is None or column < n_columns else None


def _pictures(traces: ShownTrace, view: AttentionView) -> None:
    """Draw the three views alone, each where it will be."""
    bar = st.container()
    layout, _ = traces.measured(view.kind, view.words, view.hide)
    large = panel(traces, view, layout)
    left, middle, right = _three_columns()
    with middle:
        large_head(large, view)
    with left:
        _overview(traces, view, large)
    with right:
        _lines(traces, view, layout, large)
    with bar, behind_button("attention-controls", _describe_settings(view, large)):
        _controls(traces, view)


def _three_columns() -> list[DeltaGenerator]:
    return st.container(key="three-views").columns([28, 46, 26], gap="medium")


def _overview(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    number = len(traces.changes)
    changed = ""
    if number:
        text = ngettext("{count} head changed", "{count} heads changed", number)
        changed = f" [{text}](#switch-heads-off)"
    with st.container(key="every-head"):
        every = explained(gettext("Every head"), "head")
        st.markdown(f"**{every}** :gray[{term(KIND_TERMS[view.kind])}]{changed}")
    overview(
        every_head(traces, view.words, view.hide, view.scale),
        key="overview",
        kind=view.kind,
        selected=(large.layer, large.head),
        switch=f".st-key-{widget_key('kind')} [role=radio]",
        on_pick=lambda layer, head: update(layer=layer + 1, head=head + 1, lines=()),
    )


def every_head(traces: ShownTrace, words: bool, hide: bool, scale: str) -> Kinds:
    """Return the patterns of all kinds for the overview, computed once per words, hide and scale."""
    how = words, hide, scale
    if how not in traces.packed:
        kinds = {kind: _every_head(traces, *traces.measured(kind, words, hide)) for kind in KINDS}
        traces.packed[how] = pack_kinds(kinds, scale)  # type: ignore[arg-type]
    return traces.packed[how]


def _every_head(traces: ShownTrace, layout: Layout, values: HeadValues) -> EveryHead:
    patterns, pruned = layout.apply(traces.trace.pattern(layout.kind)), traces.pruned(layout.kind)
    captions = descriptions(traces.trace, layout, values)
    for layer, head in pruned:
        captions[layer][head] = [gettext(PRUNED_NOTE)]
    measures = _measures(values)
    profile = Profile(
        [within(gettext(measure.label)) for measure in measures],
        ["" if measure.unit == "share" else gettext(measure.unit) for measure in measures],
        [gettext(measure.brief or measure.meaning) for measure in measures],
        np.stack([values[measure.name] for measure in measures]),
        [measure.largest(values[measure.name], layout.masked_whole) for measure in measures],
    )
    return EveryHead(patterns, captions, layout.masked, profile, pruned, layout.columns)


def _measures(values: HeadValues) -> list[Measure]:
    """Return the measures among `values` that the page shows."""
    return [MEASURES[name] for name in values if MEASURES[name].on_attention]


def _lines(traces: ShownTrace, view: AttentionView, layout: Layout, large: Panel) -> None:
    patterns = layout.apply(traces.trace.pattern(view.kind)[large.layer])
    drawn = [line - 1 for line in view.lines if line <= len(patterns)] or [large.head]

    def keep(state: LinesState) -> None:
        update(lines=tuple(line + 1 for line in state.heads), mass=round(100 * state.mass))

    lines(
        patterns,
        layout.rows,
        layout.columns,
        LinesState(tuple(drawn), view.mass / 100),
        key="lines",
        rows_read=layout.reads,
        peak=max(1.0, float(patterns.max())),
        held=held_cell(view),
        on_change=keep,
        on_held=hold,
    )


def _table(traces: ShownTrace, view: AttentionView, large: Panel, layout: Layout, values: HeadValues) -> None:
    """Draw every head in numbers; a click on a row opens the head."""
    n_layers, n_heads = values["entropy"].shape
    st.subheader(gettext("Heads in numbers"), anchor="heads-in-numbers")
    st.caption(gettext("Sort by a column to find a head; select its row to open it above."))
    indices = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    table: dict[str, list[object]] = {
        gettext("Head"): [
            gettext("Layer {layer}, head {head}", layer=layer + 1, head=head + 1)
            + (f", {word}" if (word := traces.without_weights(view.kind, layer, head)) else "")
            + (" ◂" if (layer, head) == (large.layer, large.head) else "")
            for layer, head in indices
        ]
    }
    config: dict[str, Any] = {gettext("Head"): st.column_config.TextColumn(width=112)}
    for measure in _measures(values):
        of_heads = values[measure.name]
        label = gettext(measure.label)
        table[label] = [None if np.isnan(value) else value for value in of_heads.ravel().tolist()]
        config[label] = st.column_config.ProgressColumn(
            width=66,
            format="%.3f",
            min_value=0.0,
            max_value=measure.largest(of_heads, layout.masked_whole),
            help=gettext("{meaning} Unit: {unit}.", meaning=gettext(measure.meaning), unit=gettext(measure.unit)),
        )

    def open_head(row: int) -> None:
        layer, head = indices[row]
        update(layer=layer + 1, head=head + 1, lines=())

    clickable_table(
        pa.table(table),  # as it travels: by way of pandas it would take three times as long
        widget_key(f"table-{view.kind}"),
        open_head,
        column_config=config,
        height=min(33 * (len(indices) + 1) + 2, 540),
        placeholder="–",
    )


def token_agreement_over_corpus(name: str) -> str:
    """Say how far a model's attention agrees with leaving words out over a corpus, if that was measured."""
    if (facts := why_measured(name)) is None:
        return ""
    measures, best = facts["measures"], facts["best"]
    own, most = measures[ATTENTION], measures[best]
    compared = gettext("{method} at {correlation}", method=explained(best, "ALTI+"), correlation=signed(most["mean"]))
    if ATTENTION in (best, *facts["not_told_apart_from_best"]):
        compared = gettext("no method on the Why page agrees better")
    text = gettext(
        "Over {sentences} sentences of {corpus}, the mean of all heads orders the tokens behind a written one as "
        "leaving them out does at a rank correlation of {correlation} ({low} to {high}); {compared}.",
        sentences=localized(f"{facts['sentences']}"),
        corpus=facts["corpus"],
        correlation=signed(own["mean"]),
        low=signed(own["low"]),
        high=signed(own["high"]),
        compared=compared,
    )
    return f"{explained(text, 'rank correlation')} "
