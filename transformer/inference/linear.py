"""Linear maps for inference, their weights in the order in which the processor's library (oneDNN) reads them fastest.

torch has no public way to that order, so its private operators are used, here and nowhere else; without them, or on
another device, the maps are the plain ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_OUTPUTS = 2_048


class Operators(NamedTuple):
    reorder: Callable[..., Tensor]
    product: Callable[..., Tensor]  # of a vector with a reordered weight, and a ReLU where one is asked for
    sum: Callable[..., Tensor]  # the product, added to another tensor
    half: bool  # whether the processor multiplies in bfloat16


@cache
def operators() -> Operators | None:
    """None where this torch does not have them."""
    if not torch.backends.mkldnn.is_available():
        return None
    private = torch.ops.mkldnn
    try:
        linear = private._linear_pointwise
        half = bool(private._is_mkldnn_bf16_supported())
        return Operators(private._reorder_linear_weight, linear.default, linear.binary, half)
    except AttributeError:
        return None


class Linear:
    """One or several linear maps of the same vector, their outputs side by side."""

    def __init__(self, *maps: nn.Linear):
        self.weight = torch.cat([m.weight.detach() for m in maps])
        biases = [m.bias.detach() for m in maps if m.bias is not None]
        self.bias = torch.cat(biases) if biases else None
        self.dtype = self.weight.dtype
        self.operators = _for(self.weight)
        if self.operators is not None:
            self.weight = self.operators.reorder(self.weight)

    def __call__(self, x: Tensor) -> Tensor:
        x = x.to(self.dtype)
        if self.operators is None:
            return F.linear(x, self.weight, self.bias)
        return self.operators.product(x, self.weight, self.bias, "none", [], "")

    def onto(self, x: Tensor, other: Tensor) -> Tensor:
        """The same, added to `other` [..., outputs] in single precision."""
        if self.operators is not None and self.dtype == torch.float32:
            return self.operators.sum(x, other, self.weight, self.bias, "add")
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        """ReLU of the same, at once where that can be."""
        if self.operators is None:
            return F.relu(self(x))
        return self.operators.product(x.to(self.dtype), self.weight, self.bias, "relu", [], "")


class Shared(Linear):
    """The same from the model's own memory, for weights of which a second copy would be too much.

    They are reordered at each call, some outputs at a time, since that takes as much memory: for 5 rows it all takes
    twice as long, for 32 a third longer, for 80 a sixth.
    """

    def __init__(self, *maps: nn.Linear):
        self.maps = [part for one in maps for part in _parts(one.weight.detach(), one.bias)]
        self.dtype = self.maps[0][0].dtype
        self.operators = _for(self.maps[0][0])

    def __call__(self, x: Tensor) -> Tensor:
        return self._side_by_side(x, "none")

    def onto(self, x: Tensor, other: Tensor) -> Tensor:
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        return self._side_by_side(x, "relu")

    def _side_by_side(self, x: Tensor, after: str) -> Tensor:
        if len(self.maps) == 1:
            return self._product(x, *self.maps[0], after)
        whole = x.new_empty(*x.shape[:-1], sum(len(weight) for weight, _ in self.maps))
        at = 0
        for weight, bias in self.maps:  # each to its place at once: all parts and the whole would be twice the memory
            whole[..., at : at + len(weight)] = self._product(x, weight, bias, after)
            at += len(weight)
        return whole

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor | None, after: str) -> Tensor:
        if self.operators is None:
            plain = F.linear(x, weight, bias)
            return F.relu(plain) if after == "relu" else plain
        return self.operators.product(x, weight, bias, after, [], "")


def _parts(weight: Tensor, bias: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
    """A map in parts of so many outputs, each with its share of the bias."""
    weights = weight.split(_OUTPUTS)
    return list(zip(weights, [None] * len(weights) if bias is None else bias.detach().split(_OUTPUTS), strict=True))


def _for(weight: Tensor) -> Operators | None:
    """The operators where oneDNN has an order of its own for such a weight, on this processor: not for an empty one."""
    private = operators() if weight.device.type == "cpu" and weight.numel() else None
    if private is None or not (weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and private.half)):
        return None
    return private
