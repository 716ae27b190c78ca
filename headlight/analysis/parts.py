"""Compute what the other parts of the network do to one token: embedding, feed-forward network, norms, output.

As in `anatomy`, everything is computed in double precision from the weights and compared with the model.

Shapes: M = d_model, F = d_ff, V target vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from headlight.analysis.anatomy import as_float64, embedded, largest_difference, linear, norm_of, softmax, standardised
from headlight.analysis.stream import FEED_FORWARD, BlockStates, Stream, layer_blocks


class TracedVectors(NamedTuple):
    """The vectors of one token on its way through a part, in order, and their difference from the model's.

    `difference` is the `largest_difference` of the last vector from the model's own.
    """

    vectors: dict[str, np.ndarray]
    difference: float


def embedding(stream: Stream, stack: str, token: int) -> TracedVectors:
    """Return "token", "position" (if the model adds one), their "sum", and "after" (if it is normed): [M] each."""
    parts = embedded(stream, stack)
    vectors = {"token": parts.tokens[token]}
    if parts.positions is not None:
        vectors["position"] = parts.positions[token]
    vectors["sum"] = np.sum(list(vectors.values()), axis=0)
    if parts.summed is not None:
        vectors["after"] = norm_of(vectors["sum"], stream.module(stack).embedding.norm)
    return _with_difference(vectors, stream.stack(stack).states[0][token])


def feed_forward(stream: Stream, stack: str, layer: int, token: int) -> TracedVectors:
    """Return "x" [M], "norm" [M] (in pre-norm), "inner" and "active" [F], "given" [M], "sum", "after" (normed).

    A gated network has "gate" and "product" [F] after "active": a third linear layer, and "active" times it.
    """
    block, norm, first = _block(stream, stack, layer, FEED_FORWARD)
    module = stream.layer(stack, layer).feed_forward
    vectors = {"x": as_float64(block.before[token])}
    if first:
        vectors["norm"] = norm_of(vectors["x"], norm)
    read = vectors["norm" if first else "x"]
    vectors["inner"] = linear(read, module.inner)
    vectors["active"] = inside = module.activation(torch.from_numpy(vectors["inner"])).numpy()
    if module.gate is not None:
        vectors["gate"] = linear(read, module.gate)
        vectors["product"] = inside = inside * vectors["gate"]
    vectors["given"] = linear(inside, module.outer)
    vectors["sum"] = vectors["x"] + vectors["given"]
    if not first:
        vectors["after"] = norm_of(vectors["sum"], norm)
    return _with_difference(vectors, block.after[token])


def block_norm(stream: Stream, stack: str, layer: int, block: str, token: int) -> TracedVectors:
    """Return the norm of a block ("self", "cross", "feed-forward"):

    "x", "standard" (before gain and bias), "after": [M].
    """
    block_states, norm, first = _block(stream, stack, layer, block)
    if first:
        return _normed(block_states.before[token], norm, block_states.read[token])
    return _normed(block_states.before[token] + block_states.output[token], norm, block_states.after[token])


def final_norm(stream: Stream, stack: str, token: int) -> TracedVectors:
    """Return the final layer norm of a stack: "x", "standard", "after". Raises ValueError where the model has none."""
    norm = stream.module(stack).norm
    if not isinstance(norm, nn.LayerNorm | nn.RMSNorm):
        raise ValueError("This model has no final layer norm; choose another part.")
    states = stream.stack(stack)
    return _normed(states.states[-1][token], norm, states.last[token])


def output(stream: Stream, token: int) -> TracedVectors:
    """Return the decoder's last "state" [M], the "logits" [V], and their softmax, the "probability" [V]."""
    state = as_float64(stream.decoder.last[token])
    logits = linear(state, stream.model.output)
    with torch.no_grad():
        own = stream.model.output(stream.decoder.last[token]).softmax(-1)
    return _with_difference({"state": state, "logits": logits, "probability": softmax(logits)}, own)


def _block(stream: Stream, stack: str, layer: int, name: str) -> tuple[BlockStates, nn.Module, bool]:
    residual = stream.residuals(stack, layer)[name][0]
    return layer_blocks(stream, stack, layer)[name], residual.norm, residual.norm_first


def _normed(x: torch.Tensor, norm: nn.Module, own: torch.Tensor) -> TracedVectors:
    numbers = as_float64(x)
    vectors = {"x": numbers, "standard": standardised(numbers, norm), "after": norm_of(numbers, norm)}
    return _with_difference(vectors, own)


def _with_difference(vectors: dict[str, np.ndarray], own: torch.Tensor) -> TracedVectors:
    return TracedVectors(vectors, largest_difference(list(vectors.values())[-1], as_float64(own)))
