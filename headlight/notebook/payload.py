"""Pack the data of a cell: all weights of a small trace; one layer per kind and all thumbnails of a large one.

Letters: L layers, H heads, Q queries (rows), K keys (columns). js/cell.js documents and reads the message.
"""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.analysis.description import row_note
from headlight.analysis.layout import Layout, descriptions, lay_out, measures
from headlight.charts.document import fonts_of
from headlight.language import gettext
from headlight.viewer.export import CAUTION
from headlight.viewer.packing import EveryHead, labels_header, overview_parts, pack, peak_of
from transformer.trace import Kind, Trace

WEIGHT_STEPS = 10_000  # levels that weights are rounded to, up to the weight with the full colour
MAX_SENT_WEIGHTS = 4_000_000  # about 5 MB of a saved notebook; of a larger trace the other layers stay in the kernel


def cell_payload(trace: Trace, selected: tuple[Kind, int, int], words: bool, theme: str | None) -> bytes:
    """Return the compressed data of the views of `trace` at the start."""
    every = sum(trace.pattern(kind).size for kind in trace.kinds) <= MAX_SENT_WEIGHTS
    headers: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for kind in trace.kinds:
        patterns = trace.pattern(kind)
        n_layers = len(patterns)
        here = list(range(n_layers)) if every else [min(selected[1], n_layers - 1)]
        headers[kind], kind_arrays = _kind(trace, kind, here)
        arrays |= {f"{kind} {name}": array for name, array in kind_arrays.items()}
    fonts = fonts_of("".join([*trace.source.labels, *trace.target.labels]))
    arrays |= {f"font {n}": np.frombuffer(file.read_bytes(), np.uint8) for n, file in enumerate(fonts.values())}
    header = {
        "selected": list(selected),
        "words": words,
        "theme": theme,
        "caution": gettext(CAUTION),
        "rounding": f"The weights are as they were saved with the notebook, rounded to 1/{WEIGHT_STEPS}.",
        "fonts": list(fonts),
        "kinds": headers,
    }
    return gzip.compress(pack(header, arrays), mtime=0)


def weights_message(trace: Trace, kind: str, layer: int, head: int, whole_layer: bool) -> bytes:
    """Return the exact weights of one head, and with `whole_layer` the quantized ones of its whole layer.

    Raises ValueError for a head that the trace lacks.
    """
    patterns = trace.pattern(kind)
    if not (0 <= layer < patterns.shape[0] and 0 <= head < patterns.shape[1]):
        raise ValueError(f"There is no layer {layer}, head {head}, counted from 0, of {kind} attention.")
    arrays: dict[str, NDArray[Any]] = {"weights": patterns[layer, head].astype(np.float32)}
    if whole_layer:
        arrays |= quantize(patterns[layer], peak_of(patterns))
    return pack({"kind": kind, "layer": layer, "head": head}, arrays)


def quantize(weights: NDArray[np.floating], peak: float) -> dict[str, NDArray[np.uint8]]:
    """Quantize weights to multiples of peak / WEIGHT_STEPS; high and low bytes apart compress better."""
    steps = np.rint(weights * (WEIGHT_STEPS / peak)).astype(np.uint16)
    return {"high": (steps >> 8).astype(np.uint8), "low": (steps & 255).astype(np.uint8)}


def _kind(trace: Trace, kind: Kind, here: list[int]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    patterns = trace.pattern(kind)
    peak, is_complete = peak_of(patterns), len(here) == len(patterns)
    layouts = {"tokens": lay_out(trace, kind, words=False, hide=False)}
    merged = lay_out(trace, kind, words=True, hide=False)
    if merged.masked.shape != layouts["tokens"].masked.shape:
        layouts["words"] = merged
    header: dict[str, Any] = {
        "layers": patterns.shape[0],
        "heads": patterns.shape[1],
        "here": here,
        "unit": peak / WEIGHT_STEPS,
        "note": row_note(patterns),
        "words": None,
    }
    arrays: dict[str, NDArray[Any]] = dict(quantize(patterns[here], peak))
    for name, layout in layouts.items():
        weights = layout.apply(patterns)
        says = descriptions(trace, layout, measures(trace, layout))
        overview, thumbs = overview_parts(EveryHead(weights, says, layout.masked, columns=layout.columns))
        header["off"] = overview["off"]
        header[name] = _labels_and_captions(layout, overview, name == "words")
        suffix = " words" if name == "words" else ""
        arrays[f"masked{suffix}"] = layout.masked.astype(np.uint8)
        if not is_complete:
            arrays |= {f"{thumb}{suffix}": array for thumb, array in thumbs.items()}
    return header, arrays


def _labels_and_captions(layout: Layout, overview: dict[str, Any], merged: bool) -> dict[str, Any]:
    """Return the tokens of a kind of attention, as they are or merged to words, and the captions of its heads."""
    return {
        **{name: value for name, value in overview.items() if name not in ("layers", "heads", "scale", "off")},
        **labels_header(layout.masked.shape, layout.rows, layout.columns, layout.reads, layout.prompt_lengths),
        "groups": [layout.row_groups, layout.column_groups] if merged else None,
    }
