"""The attention of one sentence, from any model, as one HTML file: for models that are too large for a browser."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from headlight.analysis.description import row_note
from headlight.analysis.layout import Layout, descriptions, lay_out, measures, sharpest
from headlight.analysis.measures import HeadValues
from headlight.formatting import file_size
from headlight.language import gettext, translatable
from headlight.viewer.export import KindView, standalone_html
from transformer.files import write_text
from transformer.quoting import quoted, short
from transformer.trace import Trace

if TYPE_CHECKING:
    from headlight.notebook import View

MAX_FILE_BYTES = 16_000_000  # mail and course platforms refuse larger files
_ROWS = {
    "encoder": translatable("Encoder rows"),
    "decoder": translatable("Decoder rows"),
    "cross": translatable("Cross rows"),
}
_BYTES_PER_WEIGHT = 8 / 3  # half precision in base64
_MAX_UNPACKED_BYTES = 100_000_000  # bytes of the arrays of a saved trace; a file has room for 24 million


def publish(
    what: Trace | View, path: str | Path, *, title: str | None = None, selected: tuple[str, int, int] | None = None
) -> Path:
    """Write a trace as one HTML file that draws all its heads in any browser, without a server and a network.

    `what` is a trace, as `model.trace(text)` makes it, or what `headlight.show` and `headlight.watch` return. The model
    is not in the file. `selected` (kind, layer, head), from 0, is the head that is large; where it is None, that of the
    view, or the head with the narrowest attention. Returns the path. Raises ValueError for anything else, and for a
    trace that makes the file larger than MAX_FILE_BYTES.
    """
    trace = getattr(what, "trace", what)
    if not isinstance(trace, Trace):
        raise ValueError(
            f"publish was given {quoted(what)}; give a trace, as model.trace makes it, or a view of headlight.show."
        )
    if selected is None:
        selected = getattr(what, "selected", None)
    write_text(path, trace_page(trace, title=title, selected=selected))
    return Path(path)


def trace_page(trace: Trace, *, title: str | None = None, selected: tuple[str, int, int] | None = None) -> str:
    """Return the page with every head of a trace, as `publish` writes it."""
    size = sum(trace.pattern(kind).size for kind in trace.kinds) * _BYTES_PER_WEIGHT
    if size > MAX_FILE_BYTES:
        listed = ", ".join(f"{kind} {' x '.join(map(str, trace.pattern(kind).shape))}" for kind in trace.kinds)
        raise ValueError(
            f"The page would have {file_size(size)}, and may have {file_size(MAX_FILE_BYTES)} ({listed}); "
            "trace a shorter sentence, or give fewer layers."
        )
    heading = title or trace.model or "Headlight"
    return standalone_html(heading, kind_views(trace), selected or head_to_open(trace), None, facts_of(trace))


def head_to_open(trace: Trace) -> tuple[str, int, int]:
    """Return (kind, layer, head), from 0, of the head with the narrowest attention."""
    kind = trace.kinds[-1]
    return kind, *sharpest(trace, kind)


def kind_views(trace: Trace) -> dict[str, KindView]:
    """Return what the page draws of each kind of attention, token by token."""
    layouts = {kind: lay_out(trace, kind, words=False, hide=False) for kind in trace.kinds}
    return {kind: kind_view(trace, layout, measures(trace, layout)) for kind, layout in layouts.items()}


def kind_view(trace: Trace, layout: Layout, values: HeadValues) -> KindView:
    """Return what the page draws of a kind of attention; `values` are its heads' measures in this layout."""
    patterns = np.asarray(layout.apply(trace.pattern(layout.kind)))
    captions = descriptions(trace, layout, values)
    return KindView(patterns, layout.masked, layout.rows, layout.columns, layout.reads, captions, layout.prompt_lengths)


def load_trace(path: str | Path) -> Trace:
    """Return a trace that `Trace.save` wrote. Raises ValueError for a file that is something else, or too large."""
    path = Path(path)
    if path.is_file() and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _MAX_UNPACKED_BYTES:
            raise ValueError(
                f"{short(path)} unpacks to {file_size(size)}, and a page has room for a quarter of "
                f"{file_size(_MAX_UNPACKED_BYTES)}; trace a shorter sentence."
            )
    return Trace.load(path)


def facts_of(trace: Trace) -> dict[str, str]:
    """Return what the page prints: the sentence and its translation first, then facts about them."""
    first, second = (
        (gettext("Source"), gettext("Target")) if trace.source.ids else (gettext("Prompt"), gettext("Continuation"))
    )
    facts = {first: trace.text}
    if trace.translation:
        facts[second] = trace.translation
    else:
        facts[gettext("Tokens")] = str(len(trace.source) or len(trace.target))
    facts[gettext("Model")] = trace.model or gettext("not named")
    if trace.interventions:
        facts[gettext("Heads changed")] = "; ".join(trace.interventions)
    if not trace.finished:
        facts[gettext("Unfinished")] = gettext("the model reached its longest output")
    for kind in trace.kinds:
        if note := row_note(trace.pattern(kind)):
            facts[gettext(_ROWS[kind])] = note
    return facts
