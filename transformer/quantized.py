"""Linear maps with weights of 8 bits, a quarter of the bytes: for guesses that are checked.

A weight is scaled by its row's largest number, and the input by its own, so that both are whole numbers of 8 bits;
the processor multiplies those several times as fast, and reads a quarter of the memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer.linear import Linear


class Quantized(Linear):
    """As `Linear`, nearly: about two digits of its output are right."""

    def __init__(self, *maps: nn.Linear):
        self.packed = None
        if not maps[0].weight.numel():  # of an attention whose heads are all pruned: there is nothing to scale
            super().__init__(*maps)
            return
        weight = maps[0].weight.detach() if len(maps) == 1 else torch.cat([m.weight.detach() for m in maps])
        biases = [m.bias.detach() for m in maps if m.bias is not None]
        scales = (torch.maximum(weight.amax(1), -weight.amin(1)) / 127).clamp(min=1e-12)
        zeros = torch.zeros(len(weight), dtype=torch.long)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a later torch is to have no such tensors; then `quantizes` says no
            rows = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
        self.outputs = len(weight)
        self.packed = torch.ops.quantized.linear_prepack(rows, torch.cat(biases) if biases else None)

    def __call__(self, x: Tensor) -> Tensor:
        if self.packed is None:
            return super().__call__(x)
        return self._product(torch.ops.quantized.linear_dynamic.default, x)

    def onto(self, x: Tensor, other: Tensor) -> Tensor:
        return other + self(x)

    def relu(self, x: Tensor) -> Tensor:
        return self._product(torch.ops.quantized.linear_relu_dynamic.default, x)

    def _product(self, operator: Callable[..., Tensor], x: Tensor) -> Tensor:
        try:
            return operator(x, self.packed)
        except RuntimeError:
            if x.isfinite().all():
                raise
            # It refuses what is not a number, of which other maps make what is none either.
            return x.new_full((*x.shape[:-1], self.outputs), torch.nan)


def quantizes(device: torch.device) -> bool:
    """Whether this torch and its processor have such maps."""
    has = hasattr(torch, "quantize_per_channel") and hasattr(torch.ops.quantized, "linear_dynamic")
    return device.type == "cpu" and has and "x86" in torch.backends.quantized.supported_engines
