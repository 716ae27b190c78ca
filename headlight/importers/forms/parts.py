"""Tensors of a foreign format one by one: how each is renamed, split, converted, or filled in where it is absent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.importers.forms.form import ForeignModel
from headlight.importers.limits import MAX_LAYERS
from headlight.importers.questions import Answers
from headlight.importers.source import Source
from transformer.checkpoint.weights import Refused, TensorInfo
from transformer.config import ModelConfig
from transformer.tokenizers import Tokenizer

MAX_TABLE_NUMBERS = 2**25  # numbers in a table of positions; a longer table is cut
MAPS = ("query", "key", "value")


class TensorPart(NamedTuple):
    """A tensor of our network: the first of `names` that the file has, its shape there, and the conversion.

    A tensor without names is computed.
    """

    native: str
    names: tuple[str, ...]
    shape: tuple[int, ...]
    convert: Callable[[Tensor], Tensor] = lambda tensor: tensor


class LayerNames(NamedTuple):
    """The names of a layer's parts in a file, and beside them ours where there is a choice."""

    attentions: Sequence[tuple[str, str]]  # ours and theirs
    maps: Mapping[str, str]  # of an attention: ours and theirs
    feed_forward: tuple[str, str]  # the inner and the outer layer
    norms: Sequence[str]  # in the order of the sublayers


def stored_name(part: TensorPart, infos: Mapping[str, TensorInfo]) -> str:
    """Return the name under which a file has a tensor; where it has none, the usual name."""
    return next((name for name in part.names if name in infos), part.names[0])


def size_of(infos: Mapping[str, TensorInfo], name: str, axis: int, otherwise: int) -> int:
    """Return the size of a tensor along an axis, or `otherwise`, since the doctor examines incomplete files too."""
    shape = infos[name].shape if name in infos else ()
    return shape[axis] if axis < len(shape) else otherwise


def require_shape(infos: Mapping[str, TensorInfo], name: str, dimensions: int) -> tuple[int, ...]:
    """Return the shape of a tensor. Raises Refused where it is missing, empty or of other dimensions."""
    shape = infos[name].shape if name in infos else None
    if shape is None or len(shape) != dimensions or not all(shape):
        raise Refused(f"The model lacks {name}, or has it in a shape that it cannot have: {shape}.")
    return shape


def require_shapes(parts: Iterable[TensorPart], source: Source) -> None:
    """Raise Refused for a tensor that a file lacks, or has in another shape."""
    infos = source.weights.infos
    for name, shape in shapes_due(parts, source).items():
        if require_shape(infos, name, len(shape)) != shape:
            raise Refused(f"{name} is of shape {infos[name].shape}, and must be {shape}.")


def depth_of(infos: Mapping[str, TensorInfo], prefix: str) -> int:
    """Return the number of layers whose names begin with a prefix such as "encoder.layers."."""
    numbers = {name.removeprefix(prefix).split(".")[0] for name in infos if name.startswith(prefix)}
    return min(sum(number.isdecimal() for number in numbers), MAX_LAYERS)


def affine(native: str, foreign: str, shape: tuple[int, ...], bias: bool = True) -> Iterator[TensorPart]:
    """Yield the weight and the bias of a linear layer or a norm; a bias that the file leaves out is 0."""
    yield from linear(native, foreign, shape, bias)
    if not bias:
        yield TensorPart(f"{native}.bias", (), shape[:1], lambda _: torch.zeros(shape[:1]))


def linear(native: str, foreign: str, shape: tuple[int, ...], bias: bool) -> Iterator[TensorPart]:
    """Yield the weight of a linear layer, and its bias if both networks have one."""
    yield TensorPart(f"{native}.weight", (f"{foreign}.weight",), shape)
    if bias:
        yield TensorPart(f"{native}.bias", (f"{foreign}.bias",), shape[:1])


def layer_parts(native: str, foreign: str, names: LayerNames, d_model: int, d_ff: int) -> Iterator[TensorPart]:
    """Yield the tensors of a layer whose attentions have a matrix for each of query, key, value and output."""
    for ours, theirs in names.attentions:
        for our_map, their_map in names.maps.items():
            yield from affine(f"{native}.{ours}.{our_map}", f"{foreign}.{theirs}.{their_map}", (d_model, d_model))
    inner, outer = names.feed_forward
    yield from affine(f"{native}.feed_forward.inner", f"{foreign}.{inner}", (d_ff, d_model))
    yield from affine(f"{native}.feed_forward.outer", f"{foreign}.{outer}", (d_model, d_ff))
    for index, norm in enumerate(names.norms):
        yield from affine(f"{native}.residuals.{index}.norm", f"{foreign}.{norm}", (d_model,))


def fused(native: str, foreign: str, d_model: int, bias: bool) -> Iterator[TensorPart]:
    """Yield the query, key and value projections, which nn.MultiheadAttention stores as one matrix [3 D, D]."""
    for index, name in enumerate(MAPS):
        rows = itemgetter(slice(index * d_model, (index + 1) * d_model))
        yield TensorPart(f"{native}.{name}.weight", (f"{foreign}weight",), (3 * d_model, d_model), rows)
        if bias:
            yield TensorPart(f"{native}.{name}.bias", (f"{foreign}bias",), (3 * d_model,), rows)


def shapes_due(parts: Iterable[TensorPart], source: Source) -> dict[str, tuple[int, ...]]:
    return {stored_name(part, source.weights.infos): part.shape for part in parts if part.names}


def are_complete(parts: Iterable[TensorPart], source: Source, ignored: frozenset[str]) -> bool:
    """Return whether the file has all these tensors in their shapes, and no others than the `ignored`."""
    infos, parts = source.weights.infos, list(parts)
    known = {name for part in parts for name in part.names} | ignored
    return have_their_shapes(parts, infos) and infos.keys() <= known


def have_their_shapes(parts: Iterable[TensorPart], infos: Mapping[str, TensorInfo]) -> bool:
    """Return whether a file has each of these tensors, in its shape."""
    names = ((stored_name(part, infos), part.shape) for part in parts if part.names)
    return all(name in infos and infos[name].shape == shape for name, shape in names)


def tensors_of(
    parts: Iterable[TensorPart], source: Source, as_stored: bool = False
) -> dict[str, Callable[[], Tensor]]:
    """Return the function that makes each of our tensors, by its name: of the numbers in float32, or `as_stored`."""
    return {part.native: partial(_convert, part, source, as_stored) for part in parts}


def _convert(part: TensorPart, source: Source, as_stored: bool) -> Tensor:
    stored = source.weights.tensor(stored_name(part, source.weights.infos)) if part.names else torch.empty(0)
    return part.convert(stored if as_stored else stored.float())


def foreign_model(
    form: str,
    config: ModelConfig,
    tensors: Mapping[str, Callable[[], Tensor]],
    tokenizers: tuple[Tokenizer, Tokenizer],
    answers: Answers,
    warnings: tuple[str, ...],
) -> ForeignModel:
    """Return the model with a card that names its languages, as far as they are known, and the format."""
    source, target = answers.source_language, answers.target_language
    named = f"{source} to {target}" if source and target else form
    card = {"title": named, "source": source, "target": target, "origin": form}
    return ForeignModel(config, tensors, *tokenizers, {name: value for name, value in card.items() if value}, warnings)
