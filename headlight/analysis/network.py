"""The parts of a network as a map shows them: where each stands, its shapes, its parameters.

Shapes: S source tokens, T target tokens that are read, M = d_model, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

from torch import nn

from transformer.attention import MultiHeadAttention
from transformer.layers import DecoderLayer, EncoderLayer
from transformer.model import Transformer
from transformer.trace import Kind

PartName = Literal["embedding", "attention", "attention-norm", "ff", "ff-norm", "norm", "output"]
PART_NAMES: tuple[PartName, ...] = get_args(PartName)
Shape = tuple[int, ...]


class Part(NamedTuple):
    """A part of the network. `kind` is that of an attention, and else names the stack: "encoder" or "decoder"."""

    name: PartName
    kind: Kind
    layer: int | None  # from 0; None outside the layers
    reads: tuple[Shape, ...]  # the stream, and in cross-attention the memory
    gives: Shape
    parameters: int  # numbers that training changes and that no part before this one holds
    shared: int  # numbers that it has in common with a part before this one


def network(model: Transformer, source: int, target: int) -> list[Part]:
    """Every part in the order in which a sentence of `source` tokens and a target of `target` meet them.

    The parameters of all parts sum to the model's.
    """
    counted: set[int] = set()
    parts = []
    for name, kind, layer, module, reads, gives in _parts(model, source, target):
        every = {id(p): p.numel() for p in module.parameters() if p.requires_grad}
        new = {key: size for key, size in every.items() if key not in counted}
        counted |= new.keys()
        own = sum(new.values())
        parts.append(Part(name, kind, layer, reads, gives, own, sum(every.values()) - own))
    return parts


_Placed = tuple[PartName, Kind, int | None, nn.Module, tuple[Shape, ...], Shape]


def _parts(model: Transformer, source: int, target: int) -> Iterator[_Placed]:
    size, vocabulary = model.config.d_model, model.config.target_vocab_size
    memory, stream = (source, size), (target, size)

    def block(
        kind: Kind, layer: int, sublayer: nn.Module, path: nn.Module, at: Shape, *beside: Shape
    ) -> Iterator[_Placed]:
        attention = isinstance(sublayer, MultiHeadAttention)  # else the feed-forward network
        whole: _Placed = ("attention" if attention else "ff", kind, layer, sublayer, (at, *beside), at)
        # The path around a block holds nothing that is trained but its norm.
        normed: _Placed = ("attention-norm" if attention else "ff-norm", kind, layer, path, (at,), at)
        yield from (normed, whole) if model.config.norm == "pre" else (whole, normed)

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
    if model.config.final_norm:
        yield "norm", "decoder", None, model.decoder.norm, (stream,), stream
    yield "output", "decoder", None, model.output, (stream,), (target, vocabulary)
