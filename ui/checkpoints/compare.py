"""Comparison of two models on one sentence: a head of each, their translations, and how their configurations differ."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight import charts
from headlight.analysis import aligned
from headlight.analysis.aligned import AlignedHeads, NotComparable
from headlight.analysis.layout import sharpest
from headlight.formatting import signed
from transformer import Trace, Translator
from transformer.trace import KINDS
from ui.checkpoints.configuration import configuration
from ui.checkpoints.listing import ListedModel, open_listed
from ui.checkpoints.view import CheckpointsView
from ui.state import models
from ui.state.view import bound, set_view, settle, update
from ui.viewer.component import plot
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.out_of_domain_note import out_of_domain_note
from ui.widgets.sentence import difference, source_input
from ui.widgets.sentence_box import sentence_box
from ui.widgets.table import Setting, pattern_table, settings_html
from ui.widgets.text import literal

MIN_COLOUR_LIMIT = 0.05  # of the colour scale of a difference, so that tiny differences look tiny
MAP_PIXELS = 350  # pixels for a map as the chart counts them; a bar that lies below it leaves the rest


def draw_compare(entries: list[ListedModel], view: CheckpointsView) -> None:
    """Draw the page's body where two models are compared."""
    names = [entry.name for entry in entries if not entry.broken]
    chosen = _models(names, view)
    if chosen is None:
        return
    with plain_errors():
        pair = open_listed(chosen[0]), open_listed(chosen[1])
        above = st.container()
        st.space("medium")
        below, right = st.columns([1.35, 1], gap="large")
        with below:
            _configurations(chosen, pair)
        with above, plain_errors():
            _sentence(chosen, pair, view, right)


def _sentence(
    chosen: tuple[str, str], pair: tuple[Translator, Translator], view: CheckpointsView, container: DeltaGenerator
) -> None:
    """Draw the results of both for a sentence: their heads here, their translations in `container`."""
    left, right = st.columns(2, gap="large", vertical_alignment="bottom")
    with left:
        text = source_input(pair[0], view)
    with right:
        _target(pair[0], chosen[0], text, view)
    own_traces = traces = _trace(chosen[0], text), _trace(chosen[1], text)
    with left:
        for name, model, trace in zip(chosen, pair, own_traces, strict=True):
            out_of_domain_note(name, model, text, float(trace.log_probs.mean()), literal(name))
    if view.target is not None:
        traces = _trace(chosen[0], text, view.target), _trace(chosen[1], text, view.target)
    _maps(chosen, traces, _heads(traces, view), view)
    with container:
        _writes(chosen, own_traces, traces, view)


def _trace(name: str, text: str, target: str | None = None) -> Trace:
    """Trace the sentence. Raises ValueError, naming the model, where it cannot read the text or the translation."""
    try:
        return models.trace(name, text, target)
    except ValueError as error:
        raise ValueError(f"{name} cannot read this. {error}") from None


def _models(names: list[str], view: CheckpointsView) -> tuple[str, str] | None:
    """Draw the choice of the two models; return None where there are no two."""
    if len(names) < 2:
        st.info("A comparison needs two models: import or train another.", icon=":material/info:")
        return None
    first = view.model if view.model in names else names[0]
    second = view.beside if view.beside in names else next(name for name in names if name != first)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        binding = bound("model", "first", text=None, target=None, reseeds=True)
        st.selectbox("First model", names, names.index(first), **binding)
        st.button("Swap", icon=":material/swap_horiz:", key="swap", on_click=_swap, args=(first, second, view))
        binding = bound("beside", beside_layer=None, beside_head=None, reseeds=True)
        st.selectbox("Second model", names, names.index(second), **binding)
    return first, second


def _swap(first: str, second: str, view: CheckpointsView) -> None:
    update(model=second, beside=first)
    set_view(layer=view.beside_layer, head=view.beside_head, beside_layer=view.layer, beside_head=view.head)


def _target(model: Translator, name: str, text: str, view: CheckpointsView) -> None:
    """Draw the switch from each model's own translation to one for both, and the box for that one."""

    def first_translation(is_same: bool) -> str | None:
        if not is_same:
            return None
        try:
            return models.trace(name, text, None).translation
        except ValueError:
            return ""

    toggle = bound("target", "same-target", convert=first_translation, reseeds=True)
    st.session_state.setdefault(toggle["key"], view.target is not None)
    st.toggle(
        "The same translation in both",
        **toggle,
        help="Both models force-decode one translation that you type, so that the rows line up. Otherwise each writes "
        "its own.",
    )
    if view.target is not None:
        label = f"{model.card.get('target', 'Translation')} for both"
        sentence_box(label, view.target, "target", label_visibility="collapsed")


# ---- the maps ------------------------------------------------------------------------------------------------------

Head = tuple[int, int]  # layer and head, from 0


def _heads(traces: tuple[Trace, Trace], view: CheckpointsView) -> tuple[Head, Head]:
    """Draw the chosen head of each, with the controls that choose it; where none is chosen, its sharpest."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        choose(view, "kind", "Attention", KINDS)
        heads = [_head(n, traces[n], view) for n in range(2)]
    (layer, head), (beside_layer, beside_head) = heads
    settle(layer=layer + 1, head=head + 1, beside_layer=beside_layer + 1, beside_head=beside_head + 1)
    return heads[0], heads[1]


def _head(n: int, trace: Trace, view: CheckpointsView) -> Head:
    """Draw the chosen head of the first model or the second, and its two boxes."""
    fields = (("layer", "head"), ("beside_layer", "beside_head"))[n]
    counts = trace.pattern(view.kind).shape[:2]
    defaults = sharpest(trace, view.kind)
    requested = [getattr(view, field) for field in fields]
    indices = [
        number - 1 if number and number <= count else default
        for number, count, default in zip(requested, counts, defaults, strict=True)
    ]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", width="content"):
        for field, value, count in zip(fields, indices, counts, strict=True):
            # The other number stays what is shown, which may have been the page's choice.
            also: dict[str, Any] = {other: at + 1 for other, at in zip(fields, indices, strict=True) if other != field}
            st.selectbox(
                f"{('First', 'Second')[n]} model, {field.removeprefix('beside_')}",
                list(range(1, count + 1)),
                value,
                format_func=partial(_of, count),
                width=150,
                **bound(field, f"{field}-{view.kind}", **also),
            )
    return indices[0], indices[1]


def _of(count: int, number: int) -> str:
    return f"{number} of {count}"


def _maps(names: tuple[str, str], traces: tuple[Trace, Trace], heads: tuple[Head, Head], view: CheckpointsView) -> None:
    try:
        pair = aligned.pair(traces, view.kind, heads)
    except NotComparable as error:
        _separate_heads(names, traces, heads, view, str(error))
        return
    columns = st.columns(3, gap="medium")
    for n, column in enumerate(columns[:2]):
        with column:
            _title(names[n], heads[n], traces[n], view.kind)
            figure = charts.pattern(pair.cells[n], pair.rows, pair.columns, **_look(pair.masked))
            plot(_compact(figure), key=f"map-{n}")
    with columns[2]:
        st.markdown("**Difference, second minus first**  \n:gray[blue: less weight; orange: more]")
        limit = max(MIN_COLOUR_LIMIT, float(np.abs(pair.difference).max()))
        figure = charts.difference(pair.difference, pair.rows, pair.columns, limit=limit, **_look(pair.masked))
        plot(_compact(figure), key="map-difference")
    st.caption(_caption(pair))
    table = "query", pair.rows, pair.columns, pair.difference, pair.masked, "difference-table"
    draw_when_open("The difference as a table", "difference-as-table", pattern_table, *table)


def _look(masked: Any) -> dict[str, Any]:
    theme = st.context.theme.type or "light"
    return {"masked": masked, "theme": theme, "width": MAP_PIXELS, "row_title": "", "column_title": ""}


def _compact(figure: go.Figure) -> go.Figure:
    """Move the colour bar below the grid, so that three of them fit side by side."""
    margin = figure.layout.margin
    high = figure.layout.height - margin.t - margin.b
    bar = {"orientation": "h", "x": 0, "xanchor": "left", "y": -10 / high, "yanchor": "top", "len": 120}
    bar |= {"lenmode": "pixels", "title": {"text": ""}, "xpad": 8, "ypad": 0}
    for trace in figure.select_traces({"type": "heatmap"}):
        if trace.showscale is not False:
            trace.colorbar.update(bar)
    layout = {"l": margin.l - 24, "r": 46, "t": margin.t - 16, "b": 40}
    return figure.update_layout(width=None, height=high + layout["t"] + layout["b"], margin=layout)


def _title(name: str, head: Head, trace: Trace, kind: str) -> None:
    layers, heads = trace.pattern(kind).shape[:2]
    st.markdown(f"**{literal(name)}**  \n:gray[layer {head[0] + 1} of {layers}, head {head[1] + 1} of {heads}]")


def _separate_heads(
    names: tuple[str, str], traces: tuple[Trace, Trace], heads: tuple[Head, Head], view: CheckpointsView, reason: str
) -> None:
    """Draw both heads on their own words, without a difference."""
    remedy = (
        " Switch on “The same translation in both” to line them up." if "rows" in reason and view.target is None else ""
    )
    st.info(f"There is no difference to draw. {literal(reason)}{remedy}", icon=":material/info:")
    for n, column in enumerate(st.columns(2, gap="large")):
        with column:
            _title(names[n], heads[n], traces[n], view.kind)
            head = aligned.single_head(traces[n], view.kind, *heads[n])
            figure = charts.pattern(head.cells, head.rows, head.columns, **_look(head.masked))
            plot(_compact(figure), key=f"map-{n}")


def _caption(pair: AlignedHeads) -> str:
    label, change = aligned.column_change(pair)
    points = round(100 * change)
    difference = (
        f"Over all rows, the second head gives “{literal(label)}” {abs(points)} percentage "
        f"points {'more' if points > 0 else 'less'} of its weight than the first."
        if points
        else "Over all rows, both heads give each column the same share of their weight, within one percentage point."
    )
    alignment_note = (
        "Pieces are joined into words so that the two vocabularies line up: as a key, a word has the sum of its "
        "pieces' weights; as a query, their mean."
        if pair.merged
        else "Both models split these sentences into the same tokens, so rows and columns are tokens."
    )
    return f"{difference} {alignment_note}"


# ---- beside the maps -----------------------------------------------------------------------------------------------


def _configurations(names: tuple[str, str], pair: tuple[Translator, Translator]) -> None:
    st.markdown("**Configurations**")
    first, second = (dict(configuration(model.model.config)) for model in pair)
    rows = [Setting(name, (first[name], second[name])) for name in first]
    count = sum(row.differs for row in rows)
    st.html(settings_html(names, sorted(rows, key=lambda row: not row.differs)))
    st.caption(f"{count} of {len(rows)} differ, marked ≠." if count else "The configurations are the same.")


def _writes(
    names: tuple[str, str], own_traces: tuple[Trace, Trace], read: tuple[Trace, Trace], view: CheckpointsView
) -> None:
    st.markdown("**What each one writes**")
    for name, trace in zip(names, own_traces, strict=True):
        ended = "" if trace.finished else ", cut off at its length limit"
        st.markdown(
            f":gray[{literal(name)}]  \n{literal(trace.translation) or '(nothing)'}  \n"
            f":gray[:small[{_log(trace)}{ended}]]"
        )
    if own_traces[0].translation == own_traces[1].translation:
        st.caption("Both translations are the same.")
    else:
        st.caption("From the first to the second")
        difference(own_traces[0].translation, own_traces[1].translation)
    if view.target is not None:
        st.markdown("**Log-probability of the shared translation**")
        for name, trace in zip(names, read, strict=True):
            st.markdown(f":gray[{literal(name)}]  \n{_log(trace)}")


def _log(trace: Trace) -> str:
    each = trace.log_prob / max(1, len(trace.log_probs))
    return f"sequence log-probability {signed(trace.log_prob)} nats, {signed(each)} per token"
