"""Messages to the views of the Anatomy page, as bytes. Layers, heads and tokens count from 0.

Letters: L layers, H heads, K keys, T target tokens that are read, D = d_head, M = d_model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headlight.analysis.anatomy import Walk, WalkError
from headlight.analysis.network import NetworkPart
from headlight.analysis.parts import TracedVectors
from headlight.analysis.sites import kind_of, pruned_heads
from headlight.analysis.stream import Lens
from headlight.formatting import minus, two_digits
from headlight.viewer.packing import pack
from transformer import Trace, Translator
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from transformer.tokenizers import number_duplicates
from ui.anatomy.chosen import ChosenPart, tokens
from ui.anatomy.facts import facts, shape, size, title

VARIANTS = ((True, True), (True, False), (False, True), (False, False))  # (adjusted, masked), the model's first
MAX_LIKELY_TOKENS = 10


def map_payload(parts: list[NetworkPart], config: ModelConfig, chosen: ChosenPart) -> bytes:
    """Return the network for map.js."""
    source, target = (
        next(p for p in parts if p.name == "embedding" and p.kind == kind) for kind in ("encoder", "decoder")
    )
    header = {
        "encoder": {"layers": config.encoder.n_layers, "heads": config.encoder.n_heads},
        "decoder": {"layers": config.decoder.n_layers, "heads": config.decoder.n_heads},
        "pre": config.norm == "pre",
        "final": config.final_norm,
        "positions": config.positions != "none",
        "shapes": {"memory": shape(source.gives), "stream": shape(target.gives), "logits": shape(parts[-1].gives)},
        "heading": [shape(source.reads[0]), shape(target.reads[0])],
        "selected": chosen.index,
        "head": chosen.head if chosen.part.name == "attention" else None,
        "parts": [
            {
                "name": part.name,
                "kind": part.kind,
                "layer": part.layer,
                "title": title(part, config),
                "facts": facts(part, config),
                "size": size(part),
                "pruned": sorted(_pruned(part, config)),
            }
            for part in parts
        ],
    }
    return pack(header, {})


def _pruned(part: NetworkPart, config: ModelConfig) -> list[int]:
    """Return the heads that an attention lacks."""
    if part.name != "attention":
        return []
    return [head for layer, head in pruned_heads(config, part.kind) if layer == part.layer]


def walk_payload(walk: Walk, trace: Trace, config: ModelConfig, agreement: WalkError, start: dict[str, Any]) -> bytes:
    """Return one query through one head for walk.js."""
    kind = kind_of(walk.site)
    variants = [walk.variants[switches] for switches in VARIANTS]
    heads, d_head = walk.own.heads.shape
    header = {
        "kind": kind,
        "layer": walk.site.layer,
        "head": walk.head,
        "heads": heads,
        "query": walk.query,
        "d_model": len(walk.x),
        "d_head": d_head,
        "keys": number_duplicates(trace.columns(kind)),
        "queries": number_duplicates(tokens(trace, walk.site.stack).labels),
        "writes": None if kind == "encoder" else trace.writes.labels,
        "first": walk.tokens is not None,
        "cross": kind == "cross",
        "hides": config.look_ahead_mask == "applied",
        "pre": config.norm == "pre",
        "positions": config.positions,
        "scaled": config.scale_embeddings,
        "rms": isinstance(config, T5Config),
        "relative": isinstance(config, T5Config),
        "adjusts": "bias" if walk.position_bias is not None else "divide" if walk.divisor != 1 else "nothing",
        "biased": config.qkv_bias,
        "output_biased": config.attention_output_bias,
        "agreement": {"pattern": agreement.pattern, "output": agreement.output},
        "moved": [list(variant.difference(walk.own)) for variant in variants],
        "start": start,
    }
    arrays = {
        "stream": walk.stream,
        "x": walk.x,
        "bias": walk.output_bias,
        "q": walk.q,
        "k": walk.k,
        "v": walk.v,
        "scores": walk.scores,
    }
    optional = {
        "tokens": walk.tokens,
        "positions": walk.positions,
        "embedded": walk.embedded,
        "distance": walk.position_bias,
        "normed": walk.normed,
        "x_normed": walk.x_normed,
    }
    arrays |= {name: values for name, values in optional.items() if values is not None}
    for name in ("adjusted", "weights", "heads", "moved", "added", "total", "after"):
        arrays[name] = np.stack([getattr(variant, name) for variant in variants])
    packed: dict[str, Any] = {name: values.astype(np.float32) for name, values in arrays.items()}
    return pack(header, packed | {"visible": walk.visible.astype(np.uint8)})


def parts_payload(
    part_values: TracedVectors,
    rows: Sequence[tuple[str, str, str, str]],
    of: Sequence[str],
    token: int,
    bars: Sequence[tuple[str, float, str]] = (),
) -> bytes:
    """Return a token through another part for parts.js: `rows` are (vector, name, note, scale), `of` the tokens."""
    header = {
        "tokens": number_duplicates(of),
        "token": token,
        "label": "Token",
        "rows": [{"values": values, "name": name, "note": note, "group": group} for values, name, note, group in rows],
        "bars": [{"label": label, "share": share, "note": note} for label, share, note in bars],
        "check": f"Equal to the model's own output within {two_digits(part_values.difference)}",
    }
    return pack(header, {values: part_values.vectors[values].astype(np.float32) for values, *_ in rows})


def lens_payload(predictions: Lens, trace: Trace, model: Translator, start: tuple[int, ...]) -> bytes:
    """Return the table of tokens over layers for lens.js; a start that is no cell of it counts as none."""
    rows, columns, _ = predictions.ids.shape
    is_inside = len(start) == 2 and start[0] < rows and start[1] < columns
    header = {
        "reads": number_duplicates(trace.reads.labels),
        "rows": lens_rows(rows),
        "words": lens_words(predictions, model),
        "start": list(start) if is_inside else None,
        "final": "the whole model",
    }
    return pack(header, {"shares": predictions.probabilities.astype(np.float32)})


def lens_rows(rows: int) -> list[str]:
    return ["Embedding", *(f"Layer {layer}" for layer in range(1, rows))]


def lens_words(predictions: Lens, model: Translator) -> list[list[list[str]]]:
    """Return the tokens of a lens as people would read them there: [L + 1][T][top]."""
    return [[model.checkpoint.target_tokenizer.labels(ids) for ids in row] for row in predictions.ids.tolist()]


def likely_tokens(part_values: TracedVectors, model: Translator) -> list[tuple[str, float, str]]:
    """Return the most probable tokens of an output, best first: label, probability, and its logit in words."""
    logits, shares = part_values.vectors["logits"], part_values.vectors["probability"]
    label = model.checkpoint.target_tokenizer.label
    best = np.argsort(-shares)[:MAX_LIKELY_TOKENS].tolist()
    return [(label(i), float(shares[i]), minus(f"logit {logits[i]:.2f}")) for i in best]
