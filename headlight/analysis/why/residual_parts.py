"""Decompose the residual stream into what the embedding, the positions, and each head, network and bias wrote into it.

Every norm on the way is linear once its scale is held at the value that it had (`frozen`), so the images of the parts
add up to the image of the sum: for post-norm, pre-norm and RMS norm alike.

Shapes: N tokens of one stack, P parts, H heads, K keys, M = d_model.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from headlight.analysis.sites import attention_at
from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF, Stream, layer_blocks
from headlight.analysis.why.alti import AttentionPass, frozen
from transformer.layers import OutputTransform
from transformer.taps import Site

EMBEDDING, POSITION, BIAS = "embedding", "position", "bias"


class Writer(NamedTuple):
    """A part of the network that writes into the residual stream of a stack; layers and heads count from 0.

    `part` is "embedding" (of the token), "position", "self" and "cross" (a head), "feed-forward" (a network with its
    own biases), or "bias" (those of norms and of attention's projections together).
    """

    stack: str  # "encoder" or "decoder"
    part: str
    layer: int = 0
    head: int = 0

    @property
    def is_head(self) -> bool:
        """Whether the part is a head of an attention."""
        return self.part in (SELF, CROSS)


Parts = dict[Writer, Tensor]  # [N, M] each, float64


@torch.no_grad()
def residual_parts(
    passed: Stream, heads: AttentionPass, stack: str, tokens: slice, until: tuple[int, str] | None = None
) -> Parts:
    """Return what each writer contributes to the vectors of some tokens of a stack; the values sum to the vectors.

    The vectors are those that the block `until`, a layer and its "self", "cross" or "feed-forward", reads: after its
    own norm, where the norm comes first. Without `until`, they are the output of the stack. Contributions are direct:
    what a later block computes from a writer's output is attributed to that block. The last writer is "bias".
    """
    model, bias = passed.model, Writer(stack, BIAS)
    parts = _embedding_parts(passed, stack, tokens)
    for layer in range(len(passed.module(stack).layers)):
        blocks = layer_blocks(passed, stack, layer)
        for name, (residual, _) in passed.residuals(stack, layer).items():
            before = blocks[name].before[tokens].double()
            if until == (layer, name):
                return _bias_last(_through(residual.norm, before, parts) if residual.norm_first else parts)
            output, around = blocks[name].output[tokens].double(), residual.shortcut(before)
            if not residual.connected:  # the block replaces the stream
                parts = {writer: torch.zeros_like(part) for writer, part in parts.items()}
            if name == FEED_FORWARD:
                parts[Writer(stack, name, layer)] = output
            else:
                site = Site(stack, layer, name)
                attention = attention_at(model, site)
                mixed = heads.patterns[site][:, tokens].double() @ heads.inputs[site].v[0].double()  # [H, N, D]
                moved = mixed @ attention.outputs_by_head().double()  # [H, N, M]
                parts.update((Writer(stack, name, layer, head), part) for head, part in enumerate(moved))
                if attention.output.bias is not None:
                    parts[bias] = parts[bias] + attention.output.bias.double()
            if not residual.norm_first:
                parts = _through(residual.norm, around + output, parts)
    assert until is None, f"there is no block {until}"
    last, norm = passed.stack(stack).states[-1][tokens].double(), passed.module(stack).norm
    if isinstance(norm, OutputTransform):
        return _bias_last(_transformed(norm, last, parts))
    return _bias_last(_through(norm, last, parts))


def _embedding_parts(passed: Stream, stack: str, tokens: slice) -> Parts:
    """Return the token embeddings, the positions where the model adds any, and the bias of the embedding's norm."""
    embedding = passed.module(stack).embedding
    scaled = embedding.tokens(passed.ids(stack)).double() * embedding.scale
    parts = {Writer(stack, EMBEDDING): scaled[tokens], Writer(stack, BIAS): torch.zeros_like(scaled[tokens])}
    if passed.model.config.positions != "none":
        parts[Writer(stack, POSITION)] = embedding.positions(torch.zeros_like(scaled)[None], 0)[0, tokens]
    return _through(embedding.norm, sum(parts.values(), torch.zeros_like(scaled[tokens])), parts)


def _transformed(transform: OutputTransform, x: Tensor, parts: Parts) -> Parts:
    """Return the parts of `x` [N, M] as they leave the layer before the output projection.

    The factor by which its activation multiplies each number is held at the value that it had.
    """
    weight, bias = transform.linear.weight.double(), transform.linear.bias.double()
    inner = x @ weight.T + bias
    active = transform.activation(inner)
    factor = torch.where(inner == 0, 0.0, active / inner)
    images = {writer: part @ weight.T * factor for writer, part in parts.items()}
    return _through(transform.norm, active, _with_bias(images, bias * factor))


def _through(norm: nn.Module, x: Tensor, parts: Parts) -> Parts:
    """Return the parts of `x` [N, M] as they leave a norm; its own bias joins the biases."""
    fixed = frozen(norm, x)
    images = fixed.linear(torch.stack(list(parts.values()), 1)).unbind(1)
    return _with_bias(dict(zip(parts, images, strict=True)), fixed.bias)


def _with_bias(parts: Parts, bias: Tensor) -> Parts:
    return {writer: part + bias if writer.part == BIAS else part for writer, part in parts.items()}


def _bias_last(parts: Parts) -> Parts:
    return dict(sorted(parts.items(), key=lambda entry: entry[0].part == BIAS))
