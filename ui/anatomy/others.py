"""A token through a part other than attention: embedding, norm, feed-forward network, output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis import parts
from headlight.analysis.norms import moved_by_others
from headlight.analysis.parts import TracedVectors
from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF, Stream
from headlight.formatting import minus
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from ui.anatomy import components, embedding, learned_merges, norms
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.passes import stream_of
from ui.anatomy.payloads import likely_tokens, parts_payload
from ui.state.view import update, widget_key
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import number_table

ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "silu": "SiLU", "none": "no function"}
Row = tuple[str, str, str, str]  # vector, name, note, and the group of vectors that share one colour scale


def draw(chosen: ChosenPart) -> None:
    """Draw what the part does to the chosen token, in vectors, and the same as a table."""
    config, passed = chosen.config, stream_of(chosen.name, chosen.trace)
    part_values = _part_values(passed, chosen)
    st.caption(_caption(part_values, chosen, config))
    if chosen.part.name == "ff":
        st.caption(_alone(passed, chosen))
    bars = likely_tokens(part_values, chosen.model) if chosen.part.name == "output" else ()
    components.parts(
        parts_payload(part_values, _rows(part_values, chosen, config), chosen.tokens.labels, chosen.query, bars),
        key=widget_key("part"),
        on_pick=lambda query: update(query=query + 1),
    )
    draw_when_open("This part as a table", "part-as-table", vectors_table, part_values.vectors, "part-table")
    if "norm" in chosen.part.name:
        norms.offer(chosen)
    if chosen.part.name == "embedding":
        embedding.draw(chosen)
        learned_merges.offer(chosen)


def _part_values(stream: Stream, chosen: ChosenPart) -> TracedVectors:
    part, stack, token = chosen.part, chosen.stack, chosen.query
    match part.name, part.layer:
        case "embedding", _:
            return parts.embedding(stream, stack, token)
        case "norm", _:
            return parts.final_norm(stream, stack, token)
        case "ff", int(layer):
            return parts.feed_forward(stream, stack, layer, token)
        case "ff-norm", int(layer):
            return parts.block_norm(stream, stack, layer, FEED_FORWARD, token)
        case "attention-norm", int(layer):
            return parts.block_norm(stream, stack, layer, CROSS if part.kind == "cross" else SELF, token)
    return parts.output(stream, token)


def _caption(part_values: TracedVectors, chosen: ChosenPart, config: ModelConfig) -> str:
    stack = config.encoder if chosen.stack == "encoder" else config.decoder
    vectors = part_values.vectors
    match chosen.part.name:
        case "embedding":
            positions = {
                "sinusoidal": "the sinusoidal encoding of its position is added: one says what, the other where.",
                "no-exp": "a sinusoidal encoding of its position is added, in which a tutorial forgot an exp: one says "
                "what, the other where.",
                "learned": "the learned encoding of its position is added: one says what, the other where.",
                "stored": "the encoding of its position, stored with the model, is added: one says what, the other "
                "where.",
                "none": "nothing is added: this model has no positional encoding.",
            }[config.positions]
            if isinstance(config, T5Config):
                positions = "nothing is added: positions are a bias on the scores of self-attention."
            times = f", times √{config.d_model} = {config.d_model**0.5:.3g}," if config.scale_embeddings else ""
            normed = config.norms_embedding(chosen.stack)
            norm = " Layer norm then brings the sum to mean 0 and variance 1." if normed else ""
            return (
                f"The token's row of the embedding matrix{times} is its first vector; {positions}{norm} Taking a row "
                "is multiplying the matrix by a one-hot vector, 1 at the token's number and 0 elsewhere. word2vec "
                "(Mikolov et al. 2013) learns such rows in advance, from a word's neighbours; here they are trained "
                "with the network."
            )
        case "ff":
            active = np.count_nonzero(vectors["active"] > 0)
            gated = ", multiplied by the gate, a third linear layer of the same vector" * ("gate" in vectors)
            last = f", and layer norm brings it to {_length(vectors['after'])}" if "after" in vectors else ""
            return (
                f"Two linear layers, the same for every token, with {ACTIVATIONS[config.activation]} between "
                f"them{gated}. Here {active:,} of the {stack.d_ff:,} inner activations are above zero. The output is "
                f"added to the residual stream, which goes from length {_length(vectors['x'])} to "
                f"{_length(vectors['sum'])}{last}."
            )
        case "output":
            return (
                f"The decoder's output is multiplied by one row for each of the {len(vectors['logits']):,} tokens of "
                "the vocabulary; the softmax turns these logits into the probability of each possible next token."
            )
    does = "Brings a token's vector to mean 0 and variance 1, then applies a learned gain and bias to"
    if isinstance(config, T5Config):
        does = "Divides a token's vector by the root mean square of its numbers, then applies a learned gain to"
    return f"{does} each number. Here the length goes from {_length(vectors['x'])} to {_length(vectors['after'])}."


def _alone(stream: Stream, chosen: ChosenPart) -> str:
    assert chosen.part.layer is not None
    moved = moved_by_others(stream, chosen.stack, chosen.part.layer, chosen.query)
    sizes = [stream.layer(chosen.stack, chosen.part.layer).feed_forward.inner.weight.shape[i] for i in (1, 0, 1)]
    shapes = " → ".join(f"[{len(stream.ids(chosen.stack))}, {size:,}]" for size in sizes)
    return (
        "It sees one token at a time: with all other tokens in other places, the output at this one changes by at "
        f"most {moved:.1g}. Over the whole sentence that is two convolutions of width 1, {shapes}: what mixes tokens "
        "is attention alone."
    )


def _rows(part_values: TracedVectors, chosen: ChosenPart, config: ModelConfig) -> Sequence[Row]:
    vectors = part_values.vectors
    match chosen.part.name:
        case "embedding":
            times = f"times √{config.d_model}" if config.scale_embeddings else ""
            read = "input of layer 1"
            rows: list[Row] = [("token", "Embedding", times, "all")]
            if "position" in vectors:
                rows += [("position", "Positional encoding", f"of position {chosen.query}, counted from 0", "all")]
                rows += [("sum", "Sum", "" if "after" in vectors else read, "all")]
            if "after" in vectors:
                rows += [("after", "After layer norm", read, "layer norm")]
            return rows
        case "ff":
            stream, inside = "residual stream", "inner layer"
            names = {
                "x": ("Residual stream", "before", stream),
                "norm": ("After layer norm", "", "layer norm"),
                "inner": ("First linear layer", "", inside),
                "active": (f"After {ACTIVATIONS[config.activation]}", "", inside),
                "gate": ("Gate, a third linear layer", "", inside),
                "product": ("Their product", "", inside),
                "given": ("Second linear layer", "added to the stream", stream),
                "sum": ("Residual stream", "after", stream),
                "after": ("After layer norm", "output", "layer norm"),
            }
            return [(vector, *names[vector]) for vector in vectors]
        case "output":
            return [("state", "The decoder's output", "", "all")]
    x = vectors["x"]
    if isinstance(config, T5Config):
        return [
            ("x", "Before", f"root mean square {np.sqrt((x**2).mean()):.2f}", "before"),
            ("standard", "Root mean square 1", "", "after"),
            ("after", "Times gain", "", "after"),
        ]
    return [
        ("x", "Before", minus(f"mean {x.mean():.2f}, standard deviation {x.std():.2f}"), "before"),
        ("standard", "Mean 0, variance 1", "", "after"),
        ("after", "Times gain, plus bias", "", "after"),
    ]


def _length(values: np.ndarray) -> str:
    return f"{np.linalg.norm(values):.1f}"


def vectors_table(vectors: dict[str, np.ndarray], key: str) -> None:
    """Draw vectors side by side, a number per row; shorter ones end earlier."""
    longest = max(map(len, vectors.values()))
    columns: dict[str, list[Any]] = {"Number": list(range(1, longest + 1))}
    for name, values in vectors.items():
        columns[name] = values.tolist() + [None] * (longest - len(values))
    number_table(columns, 4, key)
