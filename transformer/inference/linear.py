"""Linear layers for inference, with weights in oneDNN's blocked memory layout.

PyTorch has no public API for that layout, so this file, and no other, calls private operators. Without them, or on
another device, plain linear layers are used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_NUMBERS_PER_PART = 2**20  # weights that `WeightSharingLinear` reorders or converts at a time: 4 MB stay in the cache
_scratch = threading.local()


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


class PackedLinear:
    """One or several linear layers with the same input; their outputs are concatenated."""

    def __init__(self, *layers: nn.Linear):
        self.weight = torch.cat([m.weight.detach() for m in layers])
        biases = [m.bias.detach() for m in layers if m.bias is not None]
        self.bias = torch.cat(biases).to(self.weight.dtype) if biases else None
        self.dtype, self.operators = self.weight.dtype, operators_for(self.weight)
        if self.operators is not None:
            self.weight = self.operators.reorder(self.weight)

    def __call__(self, x: Tensor) -> Tensor:
        x = x.to(self.dtype)
        if self.operators is None:
            return F.linear(x, self.weight, self.bias)
        return self.operators.product(x, self.weight, self.bias, "none", [], "")

    def plus(self, x: Tensor, other: Tensor) -> Tensor:
        """Return the output plus `other` [..., outputs], in float32."""
        if self.operators is not None and self.dtype == torch.float32:
            return self.operators.sum(x, other, self.weight, self.bias, "add")
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        """Return ReLU of the output, fused where possible."""
        if self.operators is None:
            return F.relu(self(x))
        return self.operators.product(x.to(self.dtype), self.weight, self.bias, "relu", [], "")


class WeightSharingLinear(PackedLinear):
    """`PackedLinear` without a copy of the weights, for large models.

    The weights are reordered at each call, `_NUMBERS_PER_PART` at a time to bound memory: twice as slow for 5 rows, a
    third slower for 32. Half precision is converted to float32 the same way where the CPU has no fast product for it.
    """

    def __init__(self, *layers: nn.Linear):
        weight = layers[0].weight.detach()
        self.dtype, self.operators = weight.dtype, operators_for(weight)
        self.converts = weight.device.type == "cpu" and self.operators is None and self.dtype != torch.float32
        self.parts = [part for linear in layers for part in self._parts(linear)]

    def _parts(self, linear: nn.Linear) -> list[tuple[Tensor, Tensor | None]]:
        """Return views of the weight, `_NUMBERS_PER_PART` at a time, each with its slice of the bias."""
        size = max(1, _NUMBERS_PER_PART // max(1, linear.in_features))
        weights, bias = linear.weight.detach().split(size), linear.bias
        if bias is None:
            return [(weight, None) for weight in weights]
        return list(zip(weights, bias.detach().split(size), strict=True))

    def __call__(self, x: Tensor) -> Tensor:
        x = x if self.converts else x.to(self.dtype)
        if len(self.parts) == 1:
            return self._product(x, *self.parts[0])
        sizes = [len(weight) for weight, _ in self.parts]
        whole = x.new_empty(*x.shape[:-1], sum(sizes))  # written in place: concatenating would take twice the memory
        for part, (weight, bias) in zip(whole.split(sizes, -1), self.parts, strict=True):
            part.copy_(self._product(x, weight, bias))
        return whole

    def plus(self, x: Tensor, other: Tensor) -> Tensor:
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        return F.relu(self(x))

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if bias is not None:
            bias = bias.to(torch.float32 if self.converts else self.dtype)
        if self.operators is not None:
            return self.operators.product(x, weight, bias, "none", [], "")
        if not self.converts:
            return F.linear(x, weight, bias)
        # W xᵀ reads the converted weight as it lies, where x Wᵀ would reorder it first: up to 1.8 times as fast.
        product = (_in_float32(weight) @ x.flatten(0, -2).T).T.unflatten(0, x.shape[:-1])
        return product if bias is None else product + bias


def _in_float32(weight: Tensor) -> Tensor:
    """Return a weight in float32, in memory that this thread's next call overwrites."""
    memory = getattr(_scratch, "memory", None)
    if memory is None or memory.numel() < weight.numel():
        with torch.inference_mode(False):  # a tensor that is made in that mode could not be used outside it
            memory = _scratch.memory = torch.empty(max(weight.numel(), _NUMBERS_PER_PART))
    converted: Tensor = memory[: weight.numel()].view(weight.shape).copy_(weight)
    return converted


def operators_for(weight: Tensor) -> Operators | None:
    """Return the operators if oneDNN can reorder this weight on this CPU; an empty weight cannot be reordered."""
    private = operators() if weight.device.type == "cpu" and weight.numel() else None
    half = private is not None and private.half and weight.dtype == torch.bfloat16
    return private if half or weight.dtype == torch.float32 else None
