"""Linear layers for inference, with weights in oneDNN's blocked memory layout.

PyTorch has no public API for that layout, so this file, and no other, calls private operators. Without them, or on
another device, plain linear layers are used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_OUTPUTS_PER_PART = 2_048  # that `WeightSharingLinear` reorders at a time


class Operators(NamedTuple):
    reorder: Callable[..., Tensor]
    product: Callable[..., Tensor]  # x times a reordered weight, optionally followed by ReLU
    sum: Callable[..., Tensor]  # the product plus another tensor
    half: bool  # whether the CPU multiplies in bfloat16


@cache
def operators() -> Operators | None:
    """Return oneDNN's private operators, or None where this PyTorch lacks them."""
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
    """One or several linear layers with the same input; their outputs are concatenated."""

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
        """Return the output plus `other` [..., outputs], in float32."""
        if self.operators is not None and self.dtype == torch.float32:
            return self.operators.sum(x, other, self.weight, self.bias, "add")
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        """Return ReLU of the output, fused where possible."""
        if self.operators is None:
            return F.relu(self(x))
        return self.operators.product(x.to(self.dtype), self.weight, self.bias, "relu", [], "")


class WeightSharingLinear(Linear):
    """`Linear` without a copy of the weights, for large models.

    The weights are reordered at each call, `_OUTPUTS_PER_PART` outputs at a time to bound memory. A call takes twice as
    long for 5 rows, a third longer for 32, and a sixth longer for 80.
    """

    def __init__(self, *maps: nn.Linear):
        self.maps = [part for linear in maps for part in _parts(linear.weight.detach(), linear.bias)]
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
        for weight, bias in self.maps:  # written in place: concatenating would take twice the memory
            whole[..., at : at + len(weight)] = self._product(x, weight, bias, after)
            at += len(weight)
        return whole

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor | None, after: str) -> Tensor:
        if self.operators is None:
            plain = F.linear(x, weight, bias)
            return F.relu(plain) if after == "relu" else plain
        return self.operators.product(x, weight, bias, after, [], "")


def _parts(weight: Tensor, bias: Tensor | None) -> list[tuple[Tensor, Tensor | None]]:
    """Split a linear layer into parts of `_OUTPUTS_PER_PART` outputs, each with its slice of the bias."""
    weights = weight.split(_OUTPUTS_PER_PART)
    biases = [None] * len(weights) if bias is None else bias.detach().split(_OUTPUTS_PER_PART)
    return list(zip(weights, biases, strict=True))


def _for(weight: Tensor) -> Operators | None:
    """Return the operators if oneDNN can reorder this weight on this CPU; an empty weight cannot be reordered."""
    private = operators() if weight.device.type == "cpu" and weight.numel() else None
    if private is None or not (weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and private.half)):
        return None
    return private
