"""The parts of a network in order, with their shapes and parameters, and the cost of a layer.

Shapes: S source tokens, T target tokens that are read, M = d_model, V target vocabulary. Costs: n tokens, d = d_model,
f = d_ff, k the width of a convolution, r the neighbours that restricted self-attention sees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from torch import nn

from headlight.analysis.stream import require_paper_layers
from transformer.attention import MultiHeadAttention
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer
from transformer.trace import Kind

KERNEL_TOKENS = 3  # k in Table 1 of Vaswani et al. 2017
NEIGHBOUR_TOKENS = 16  # r in the same table
PartName = Literal["embedding", "attention", "attention-norm", "ff", "ff-norm", "norm", "output"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
Shape = tuple[int, ...]


class NetworkPart(NamedTuple):
    """A part of the network; `kind` is the kind of an attention, and of other parts their stack."""

    name: PartName
    kind: Kind
    layer: int | None  # from 0; None outside the layers
    reads: tuple[Shape, ...]  # the stream, and in cross-attention the memory
    gives: Shape
    parameters: int  # numbers that training changes and that no part before this one holds
    shared: int  # numbers that it has in common with a part before this one


def network(model: Transformer, source: int, target: int) -> list[NetworkPart]:
    """Return every part in the order in which a sentence of `source` tokens and a target of `target` meet them.

    The parameters of all parts sum to the model's. Raises ValueError for a model without the paper's layers.
    """
    require_paper_layers(model)
    counted: set[int] = set()
    parts = []
    for name, kind, layer, module, reads, gives in _parts(model, source, target):
        every = {id(p): p.numel() for p in module.parameters() if p.requires_grad}
        new = {key: size for key, size in every.items() if key not in counted}
        counted |= new.keys()
        own = sum(new.values())
        parts.append(NetworkPart(name, kind, layer, reads, gives, own, sum(every.values()) - own))
    return parts


_Placed = tuple[PartName, Kind, int | None, nn.Module, tuple[Shape, ...], Shape]


def _parts(model: Transformer, source: int, target: int) -> Iterator[_Placed]:
    size, vocabulary = model.config.d_model, model.config.target_vocab_size
    memory, stream = (source, size), (target, size)

    def block(
        kind: Kind, layer: int, sublayer: nn.Module, path: nn.Module, at: Shape, *inputs: Shape
    ) -> Iterator[_Placed]:
        attention = isinstance(sublayer, MultiHeadAttention)  # else the feed-forward network
        block_part: _Placed = ("attention" if attention else "ff", kind, layer, sublayer, (at, *inputs), at)
        # The path around a block holds nothing that is trained but its norm.
        normed: _Placed = ("attention-norm" if attention else "ff-norm", kind, layer, path, (at,), at)
        yield from (normed, block_part) if model.config.norm == "pre" else (block_part, normed)

    yield "embedding", "encoder", None, model.encoder.embedding, ((source,),), memory
    for n, layer in enumerate(model.encoder.layers):
        assert isinstance(layer, EncoderLayer)
        yield from block("encoder", n, layer.attention, layer.residuals[0], memory)
        yield from block("encoder", n, layer.feed_forward, layer.residuals[1], memory)
    if model.config.final_norm:
        yield "norm", "encoder", None, model.encoder.norm, (memory,), memory
    yield "embedding", "decoder", None, model.decoder.embedding, ((target,),), stream
    for n, layer in enumerate(model.decoder.layers):
        assert isinstance(layer, DecoderLayer)
        yield from block("decoder", n, layer.self_attention, layer.residuals[0], stream)
        yield from block("cross", n, layer.cross_attention, layer.residuals[1], stream, memory)
        yield from block("decoder", n, layer.feed_forward, layer.residuals[2], stream)
    if model.config.final_norm and not model.config.output_transform:
        yield "norm", "decoder", None, model.decoder.norm, (stream,), stream
    output = nn.ModuleList([model.decoder.norm, model.output]) if model.config.output_transform else model.output
    yield "output", "decoder", None, output, (stream,), (target, vocabulary)


class LayerCost(NamedTuple):
    """The multiply-adds of one encoder layer over n tokens."""

    attention: int  # 2 n² d: the products q kᵀ, and the weights times v
    projections: int  # 4 n d²: of queries, keys, values, and of the heads joined
    feed_forward: int  # 2 n d f; half as much again where it is gated


def layer_cost(n: int, d_model: int, width: int, d_ff: int, gated: bool = False) -> LayerCost:
    """Return the cost of a layer; `width` is that of all heads together: d_model, except in T5."""
    return LayerCost(2 * n * n * width, 4 * n * d_model * width, (3 if gated else 2) * n * d_model * d_ff)


def crossing(d_model: int, width: int, d_ff: int, gated: bool = False) -> int:
    """Return the first length at which the products of attention cost more than all maps of the layer."""
    unit = layer_cost(1, d_model, width, d_ff, gated)
    return math.floor((unit.projections + unit.feed_forward) / unit.attention) + 1


class LayerKind(NamedTuple):
    """A row of Table 1, its numbers at one n and d: multiply-adds of a layer, steps one after the other, path length.

    The orders of magnitude of the table are taken as they stand, without the constants that they leave out.
    """

    name: str
    complexity: str
    products: float
    steps: int
    path: int


def table_1(n: int, d: int) -> list[LayerKind]:
    """Compare the layers of table 1: self-attention, recurrent, convolutional and restricted self-attention."""
    deep = max(1, math.ceil(math.log(max(n, 2), KERNEL_TOKENS)))
    return [
        LayerKind("Self-attention", "n² · d", n * n * d, 1, 1),
        LayerKind("Recurrent (RNN)", "n · d²", n * d * d, n, n),
        LayerKind(f"Convolutional, width {KERNEL_TOKENS}", "k · n · d²", KERNEL_TOKENS * n * d * d, 1, deep),
        LayerKind(
            f"Self-attention to {NEIGHBOUR_TOKENS} neighbours",
            "r · n · d",
            min(NEIGHBOUR_TOKENS, n) * n * d,
            1,
            math.ceil(n / NEIGHBOUR_TOKENS),
        ),
    ]
