"""Downloads: figures as PNG, SVG and PDF, a head as CSV, the trace as NPZ, the view as one HTML file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import streamlit as st

from headlight.analysis.head_changes import HeadChange
from headlight.charts.svg import Colours, HeadBlock, patterns_svg
from headlight.formatting import csv_text, percent
from headlight.language import gettext, localized, translatable, within
from headlight.viewer.export import KindView, standalone_html
from headlight.web.traces import kind_view
from transformer.tokenizers import SPACE
from transformer.trace import KINDS, Kind
from ui.attention.picture import SHOWS, Panel, ShownTrace
from ui.attention.view import KIND_NAMES, AttentionView, head_of_kind
from ui.widgets.figures import download, figure_buttons, file_stem, model_name, sentence_facts

ATTENTIONS = {
    "encoder": translatable("Encoder self-attention"),
    "decoder": translatable("Decoder self-attention"),
    "cross": translatable("Cross-attention"),
}
FIGURES = {
    "head": translatable("This head"),
    "kind": translatable("Every head of {kind}"),
    "all": translatable("Every head of the model"),
}


def export(traces: ShownTrace, view: AttentionView, large: Panel) -> None:
    """Draw the menu with every download; a file is made when its button is pressed."""
    menu = st.popover(gettext("Export"), icon=":material/download:", key="export", on_change="rerun")
    if not menu.open:
        return
    theme = st.context.theme.type or "light"
    with menu:
        kind = gettext(ATTENTIONS[view.kind])
        names = {what: gettext(name, kind=within(kind)) for what, name in FIGURES.items()}
        what = st.radio(gettext("Figure"), list(FIGURES), format_func=names.__getitem__, key="figure")
        figure = {"head": head_figure, "kind": kind_figure, "all": model_figure}[what](traces, view, large)
        about = facts(traces, view, large if what == "head" else None)
        stem = partial(file_stem, traces.name, "changed" if traces.changes else "")
        figure_buttons(partial(svg, figure, about), figure.title, about, stem(figure.stem, traces.trace.text))
        st.caption(gettext("The numbers of the chosen head"))
        head = _stem(view, within(large.title))
        csv = partial(picture_csv, traces, view, large)
        download(gettext("CSV, the exact weights"), csv, f"{stem(head, traces.trace.text)}.csv", "text/csv")
        st.caption(gettext("The whole sentence"))
        file = stem("attention", traces.trace.text)
        npz = partial(trace_npz, traces)
        download(gettext("NPZ, all attention weights"), npz, f"{file}.npz", "application/octet-stream")
        page = partial(page_html, traces, view, large, theme)
        download(gettext("HTML, this view offline"), page, f"{file}.html", "text/html")


@dataclass(frozen=True)
class ExportedFigure:
    """A picture to download; `stem` names its content in a file's name."""

    title: str
    stem: str
    blocks: tuple[HeadBlock, ...]
    colours: Colours


def head_figure(traces: ShownTrace, view: AttentionView, large: Panel) -> ExportedFigure:
    """Return the figure of the chosen head as it is shown."""
    layout = large.layout
    block = HeadBlock("", large.cells[None, None], layout.rows, layout.columns, layout.masked, layout.reads)
    what = "" if large.show == "raw" else f" {large.show}"
    return ExportedFigure(
        head_title(view, large),
        _stem(view, f"{within(large.title)}{what}"),
        (block,),
        Colours("fixed" if large.signed else view.scale, large.name, large.limit, large.signed),
    )


def head_title(view: AttentionView, large: Panel) -> str:
    parts = [gettext(ATTENTIONS[view.kind]), within(large.title), within(gettext(SHOWS[large.show])), large.off]
    return ", ".join(filter(None, parts))


def _stem(view: AttentionView, what: str) -> str:
    return f"{within(gettext(KIND_NAMES[view.kind]))} {what}"


def kind_figure(traces: ShownTrace, view: AttentionView, large: Panel) -> ExportedFigure:
    """Return the figure of every head of the kind that is shown."""
    block = _block(traces, view, view.kind)
    title = gettext("{attention}, every head", attention=block.name)
    return ExportedFigure(title, _stem(view, within(gettext("Every head"))), (block,), _colours(view, [block]))


def model_figure(traces: ShownTrace, view: AttentionView, large: Panel) -> ExportedFigure:
    """Return the figure of every head of all three kinds."""
    blocks = [_block(traces, view, kind) for kind in KINDS]
    title, stem = gettext("Every attention head"), within(gettext("Every head"))
    return ExportedFigure(title, stem, tuple(blocks), _colours(view, blocks))


def _block(traces: ShownTrace, view: AttentionView, kind: Kind) -> HeadBlock:
    layout = traces.measured(kind, view.words, view.hide)[0]
    weights = np.asarray(layout.apply(traces.trace.pattern(kind)))
    return HeadBlock(gettext(ATTENTIONS[kind]), weights, layout.rows, layout.columns, layout.masked, layout.reads)


def _colours(view: AttentionView, blocks: Sequence[HeadBlock]) -> Colours:
    """Return one scale for all heads, which ends at 1, or at the largest weight of a head that was scaled up."""
    return Colours(view.scale, limit=max(1.0, *(float(block.weights.max()) for block in blocks)))


def facts(traces: ShownTrace, view: AttentionView, large: Panel | None) -> dict[str, str]:
    """Return the facts that every file states: name to text. `large` is the head, where it is about one."""
    trace = traces.trace
    about = sentence_facts(traces.name, traces.model, trace.text, trace.translation)
    if traces.changes:
        about[gettext("Heads changed")] = "; ".join(map(_in_words, traces.changes))
    if any(SPACE in label for label in (*trace.source.labels, *trace.target.labels)):
        about[SPACE] = gettext("a space: a token that begins with it begins a word")
    if view.hide:
        left_out = gettext("special tokens")
        if large:
            left_out = gettext("special tokens, and with them {share} of the weight", share=percent(large.hidden))
        about[gettext("Left out")] = left_out
    return about


def _in_words(change: HeadChange) -> str:
    head = within(head_of_kind(change.kind, change.layer, change.head))
    if change.action == "scale":
        return f"{head} × {localized(f'{change.factor:g}')}"
    return gettext("{heads} off", heads=head) if change.action == "off" else gettext("{heads} uniform", heads=head)


def svg(figure: ExportedFigure, about: Mapping[str, str], theme: str) -> str:
    return patterns_svg(figure.blocks, title=figure.title, facts=about, colours=figure.colours, theme=theme)


def picture_csv(traces: ShownTrace, view: AttentionView, large: Panel) -> str:
    """Return the facts, one per row, then an empty row and the matrix: one row per query.

    A masked cell is empty, since it is not 0.
    """
    about = {gettext("Attention"): head_title(view, large), **facts(traces, view, large)}
    rows = (
        [label, *(None if is_masked else float(weight) for weight, is_masked in zip(row, masked, strict=True))]
        for label, row, masked in zip(large.layout.rows, large.cells, large.layout.masked, strict=True)
    )
    return csv_text([*map(list, about.items()), [], [gettext("query \\ key"), *large.layout.columns], *rows])


def trace_npz(traces: ShownTrace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        replace(traces.trace, model=model_name(traces.name, traces.model)).save(path)
        return path.read_bytes()


def page_html(traces: ShownTrace, view: AttentionView, large: Panel, theme: Literal["light", "dark"]) -> str:
    trace = traces.trace
    kinds: dict[str, KindView] = {
        kind: kind_view(trace, *traces.measured(kind, view.words, view.hide)) for kind in KINDS
    }
    about = facts(traces, view, None)
    names = list(about)
    # The page prints the first two above its views.
    meta = {name: about[name] for name in (*names[1:3], names[0], *names[3:])}
    meta[gettext("Log-probability")] = gettext("{number} nats", number=localized(f"{trace.log_prob:.3f}"))
    return standalone_html("Headlight", kinds, (view.kind, large.layer, large.head), theme, meta)
