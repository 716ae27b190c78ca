"""The parameters of a network as nested blocks, from names and shapes alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Side = Literal["embedding", "encoder", "decoder", "output"]

_SHORT_TITLES = {
    "attention": "self",
    "self_attention": "self",
    "cross_attention": "cross",
    "feed_forward": "ff",
    "residuals": "norms",
    "norm": "norm",
}
_TITLES = {
    "attention": "self-attention",
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward",
    "residuals": "norms",
    "norm": "final layer norm",
}
_PART_ORDER = (
    *("embedding", "layers", "attention", "self_attention", "cross_attention", "feed_forward", "residuals"),
    *("query", "key", "value", "inner", "output", "outer", "weight", "bias"),
)


@dataclass(frozen=True)
class Block:
    """A part of a network: level 0 is a stack or an embedding, 1 a layer, 2 a block of a layer.

    In the order of the blocks, its parameters are those from `start` to `start + parameters` of the network.
    """

    path: str  # what its tensors' names begin with: "decoder.layers.1.cross_attention"
    title: str  # "Decoder layer 2, cross-attention"
    brief: str  # "cross"
    side: Side
    level: int
    start: int
    parameters: int
    names: tuple[str, ...]


@dataclass(frozen=True)
class BlockGroup:
    """Parts of the same kind in all layers: "Encoder, feed-forward"."""

    title: str
    path: str | None  # of the block, where the group is a single block
    names: tuple[str, ...]


def blocks(sizes: Mapping[str, int]) -> list[Block]:
    """Return the blocks of a network, given its tensors' sizes, from left to right and from the outside in."""
    names = sorted(sizes, key=_key)
    starts, at = {}, 0
    for name in names:
        starts[name] = at
        at += sizes[name]
    shared = "decoder.embedding.tokens.weight" not in sizes
    inner: dict[str, list[str]] = {}
    for name in names:
        for path in _paths(name):
            inner.setdefault(path, []).append(name)
    listed = []
    for path, inside in inner.items():
        level, (title, brief) = _level(path), _named(path, shared)
        if level and len(inside) == len(inner[_paths(inside[0])[level - 1]]):
            continue  # nothing else is in the block around it
        total = sum(sizes[name] for name in inside)
        listed.append(Block(path, title, brief, _side(path), level, starts[inside[0]], total, tuple(inside)))
    return listed


def groups(names: Iterable[str]) -> list[BlockGroup]:
    """Return the parameters as a table has them: layers of a stack together, and all norms."""
    names = sorted(names, key=_key)
    shared = "decoder.embedding.tokens.weight" not in names
    members: dict[str, tuple[str | None, list[str]]] = {}
    for name in names:
        title, path = _group(name, shared)
        members.setdefault(title, (path, []))[1].append(name)
    last = members.pop("Norms", None)
    if last is not None:
        members["Norms"] = last
    return [BlockGroup(title, path, tuple(inside)) for title, (path, inside) in members.items()]


def sizes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Return how many numbers each tensor has."""
    return {name: math.prod(shape) for name, shape in shapes.items()}


def is_norm(name: str) -> bool:
    return any("norm" in part for part in name.split("."))


def tensor_title(name: str) -> str:
    """Return the title of a tensor: "Decoder layer 2, cross-attention, query weight"."""
    paths = _paths(name)
    within = name.removeprefix(paths[-1]).strip(".").replace(".", " ").replace("_", " ")
    return ", ".join(part for part in (_named(paths[-1], shared=False)[0], within) if part)


def _paths(name: str) -> list[str]:
    """Return the blocks around a tensor, from the outside in."""
    parts = name.split(".")
    if parts[0] not in ("encoder", "decoder") or len(parts) < 3:
        return [parts[0]]
    if parts[1] == "embedding":
        return [".".join(parts[:2]), ".".join(parts[:3])]
    if parts[1] == "layers" and len(parts) > 4:
        return [parts[0], ".".join(parts[:3]), ".".join(parts[:4])]
    return [parts[0], ".".join(parts[:2])]


def _level(path: str) -> int:
    parts = path.split(".")
    if parts[:2] in (["encoder", "embedding"], ["decoder", "embedding"]):
        return len(parts) - 2
    return {1: 0, 2: 1, 3: 1}.get(len(parts), 2)


def _side(path: str) -> Side:
    parts = path.split(".")
    if "embedding" in parts:
        return "embedding"
    return parts[0] if parts[0] in ("encoder", "decoder") else "output"  # type: ignore[return-value]


def _named(path: str, shared: bool) -> tuple[str, str]:
    """Return the title of a block, and a short title."""
    parts = path.split(".")
    top = parts[0].capitalize()
    if len(parts) == 1:
        return ("Output", "out") if path == "output" else (_spaced(top), top)
    if parts[1] == "embedding":
        embedding = {"encoder": "Embedding" if shared else "Source embedding", "decoder": "Target embedding"}[parts[0]]
        inside = _spaced(parts[2]) if len(parts) > 2 else ""
        return (f"{embedding}, {inside}", inside) if inside else (embedding, embedding.split()[0].lower())
    if len(parts) == 2:
        return f"{top}, {_TITLES.get(parts[1], _spaced(parts[1]))}", _SHORT_TITLES.get(parts[1], _spaced(parts[1]))
    layer = f"layer {int(parts[2]) + 1}" if parts[2].isdecimal() else _spaced(parts[2])
    if len(parts) == 3:
        return f"{top} {layer}", layer.capitalize()
    block = parts[3]
    return f"{top} {layer}, {_TITLES.get(block, _spaced(block))}", _SHORT_TITLES.get(block, _spaced(block))


def _group(name: str, shared: bool) -> tuple[str, str | None]:
    parts, outer = name.split("."), _paths(name)
    if is_norm(name):
        return "Norms", None
    if len(outer) > 2:
        return f"{parts[0].capitalize()}, {_TITLES.get(parts[3], _spaced(parts[3]))}", None
    if len(outer) == 1 or parts[1] == "embedding":
        return _named(outer[0], shared)[0], outer[0]
    return _named(outer[-1], shared)[0], outer[-1]


def _spaced(word: str) -> str:
    return word.replace("_", " ")


def _key(name: str) -> tuple[object, ...]:
    """Return a sort key that orders names as in the forward pass: embeddings, layers by number, the blocks of a layer.
    """
    parts = name.split(".")
    stack = {"encoder": 0, "decoder": 1}.get(parts[0], 2)
    if stack == 2 or len(parts) < 3:
        return stack, 0, 0, (), name
    layer = int(parts[2]) if parts[1] == "layers" and parts[2].isdecimal() else -1
    return stack, _rank(parts[1]), layer, tuple(map(_rank, parts[3:])), name


def _rank(part: str) -> int:
    return _PART_ORDER.index(part) if part in _PART_ORDER else len(_PART_ORDER)
