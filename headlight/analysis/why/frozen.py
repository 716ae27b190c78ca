"""A norm as a linear map, its scale held at the value that it has for one vector: what lets a sum be taken apart.

Shapes: N tokens, M = d_model.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class FrozenNorm(NamedTuple):
    """norm(x) = `linear`(x) + `bias` for the vectors `x` [N, M] that it was frozen at.

    Layer norm subtracts the mean, which is linear, and divides by the standard deviation, which is not: here it is
    a constant. So the images of the parts of a sum add up to the image of the sum.
    """

    scale: Tensor  # [N, M], the gain over the deviation (the root mean square, in T5's norm)
    centres: bool
    bias: Tensor  # [M]

    def linear(self, parts: Tensor) -> Tensor:
        """Parts [N, ..., M] of the N vectors, each as it leaves the norm."""
        if self.centres:
            parts = parts - parts.mean(-1, keepdim=True)
        return parts * self.scale.view(len(self.scale), *[1] * (parts.ndim - 2), -1)


def frozen(norm: nn.Module, x: Tensor) -> FrozenNorm:
    """`norm` frozen at each row of `x` [N, M]; where a model has no norm, nn.Identity, what changes nothing."""
    if isinstance(norm, nn.Identity):
        return FrozenNorm(torch.ones_like(x), False, x.new_zeros(x.size(-1)))
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    centres = isinstance(norm, nn.LayerNorm)
    centred = x - x.mean(-1, keepdim=True) if centres else x
    deviation = (centred.square().mean(-1, keepdim=True) + (norm.eps or 0.0)).sqrt()
    bias = norm.bias.to(x.dtype) if isinstance(norm, nn.LayerNorm) else x.new_zeros(x.size(-1))
    return FrozenNorm(norm.weight.to(x.dtype) / deviation, centres, bias)
