"""What can be taken away: the head as PNG, SVG and CSV, the trace as NPZ, the view as one HTML file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from transformer import Trace
from transformer.analysis.layout import descriptions
from transformer.charts.svg import pattern_svg
from transformer.data.tokenizers import SPACE
from transformer.trace import KINDS
from ui.attention.picture import SHOWS, Panel, Shown
from ui.attention.save_png import save_png
from ui.attention.view import AttentionView
from ui.viewer.export import KindView, standalone_html
from ui.widgets.spreadsheet import csv_text

ATTENTIONS = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}


def export(shown: Shown, view: AttentionView, large: Panel) -> None:
    """The menu with every download; a file is made when it is asked for."""
    menu = st.popover("Export", icon=":material/download:", key="export", on_change="rerun")
    if not menu.open:
        return
    theme = st.context.theme.type or "light"
    stem = f"{view.kind}-layer{large.layer + 1}-head{large.head + 1}"
    with menu:
        st.caption(f"{ATTENTIONS[view.kind]}, {large.title.lower()}, as shown")
        drawing = picture_svg(large, view.kind, theme)
        save_png(drawing, f"{stem}.png")
        _button("SVG, for print", lambda: drawing, f"{stem}.svg", "image/svg+xml")
        _button("CSV, the exact weights", partial(picture_csv, large), f"{stem}.csv", "text/csv")
        st.caption("The whole sentence")
        _button("NPZ, all attention weights", partial(trace_npz, shown.trace), "trace.npz", "application/octet-stream")
        _button("HTML, this view offline", partial(page_html, shown, view, large, theme), "headlight.html", "text/html")


def _button(label: str, make: Callable[[], str | bytes], name: str, mime: str) -> None:
    st.download_button(label, make, name, mime, on_click="ignore", width="stretch", key=f"download-{mime}")


def picture_svg(large: Panel, kind: str, theme: str) -> str:
    place = large.place
    return pattern_svg(
        large.cells,
        place.rows,
        place.columns,
        masked=place.masked,
        reads=place.reads,
        title=f"{ATTENTIONS[kind]}, {large.title.lower()}, {SHOWS[large.show].lower()}" + ", off" * large.off,
        limit=large.limit,
        signed=large.signed,
        theme=theme,
    )


def picture_csv(large: Panel) -> str:
    """One row a query; a masked cell is empty, since it is not 0."""
    rows = (
        [label, *(None if gone else float(weight) for weight, gone in zip(row, masked, strict=True))]
        for label, row, masked in zip(large.place.rows, large.cells, large.place.masked, strict=True)
    )
    return csv_text([["", *large.place.columns], *rows])


def trace_npz(trace: Trace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.npz"
        trace.save(path)
        return path.read_bytes()


def page_html(shown: Shown, view: AttentionView, large: Panel, theme: Literal["light", "dark"]) -> str:
    trace, card = shown.trace, shown.model.card
    kinds: dict[str, KindView] = {}
    for kind in KINDS:
        place, found = shown.measured(kind, view.words, view.hide)
        says = descriptions(trace, place, found)
        patterns = place.apply(trace.pattern(kind))
        kinds[kind] = KindView(patterns, place.masked, place.rows, place.columns, place.reads, says)
    meta = {
        str(card.get("source", "Source")): trace.text,
        str(card.get("target", "Translation")): trace.translation,
        "Model": str(card.get("title", "")),
        "Log-probability": f"{trace.log_prob:.3f}",
    }
    if any(SPACE in label for label in (*trace.source.labels, *trace.target.labels)):
        meta[SPACE] = "a space: a token that begins with it begins a word"
    if shown.changes:
        meta["Heads changed"] = ", ".join(map(str, shown.changes))
    return standalone_html("Headlight", kinds, (view.kind, large.layer, large.head), theme, meta)
