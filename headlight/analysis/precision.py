"""The gradients of a training step, and how 16-bit types round them.

Letters: N gradients that are not 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from transformer.batches import Batch
from transformer.model import Transformer
from transformer.training.loop import batch_loss
from transformer.yielding import yield_turn

LOSS_SCALE = 2.0**16  # the initial scale of torch.amp.GradScaler


def gradients(model: Transformer, batch: Batch) -> Tensor:
    """Return the gradients [N] of the mean loss by every parameter, in float32 and without dropout.

    Gradients that are exactly 0, such as those of tokens outside the batch, are left out.
    """
    yield_turn()
    device = model.output.weight.device
    batch = batch._replace(src=batch.src.to(device), tgt=batch.tgt.to(device))
    with torch.enable_grad():
        loss = batch_loss(model.eval(), batch) / batch.n_tokens
        parts = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
    values = torch.cat([part.flatten() for part in parts if part is not None])
    return values[values != 0]


class Rounding(NamedTuple):
    """Shares of numbers that a type rounds to 0, keeps with fewer digits (subnormal), and cannot hold (infinite)."""

    zero: float
    subnormal: float
    infinite: float


def rounding(values: Tensor, dtype: torch.dtype) -> Rounding:
    """Return how a type rounds `values` [N], none of which is 0."""
    rounded = values.to(dtype).float().abs()
    subnormal = (rounded > 0) & (rounded < torch.finfo(dtype).tiny)
    zero, subnormals, infinite = (float(x.double().mean()) for x in (rounded == 0, subnormal, rounded.isinf()))
    return Rounding(zero, subnormals, infinite)


def spread(values: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of `values` [N] between neighbouring powers of two: the lower exponents, and the shares."""
    exponents, counts = np.unique(torch.frexp(values.double())[1].numpy() - 1, return_counts=True)
    lowest, highest = int(exponents[0]), int(exponents[-1])
    shares = np.zeros(highest - lowest + 1)
    shares[exponents - lowest] = counts / len(values)
    return np.arange(lowest, highest + 1), shares
