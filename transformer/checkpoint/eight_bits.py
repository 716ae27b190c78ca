"""8-bit absmax quantization of matrices by row (Dettmers et al. 2022, "LLM.int8()", section 2.1).

Each row is rounded to multiples of its step, the row's largest absolute value / 127. The steps are stored beside the
matrix as the tensor `NAME.step`. Snapshots of a training are stored this way, in half the size of 16-bit weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.checkpoint.weights import Stored

STEP_SUFFIX = ".step"
MAX_INT8 = 127


def quantize(name: str, weights: Tensor) -> dict[str, Tensor]:
    """Quantize a matrix [rows, columns] to int8 with a step per row [rows, 1]; other tensors become float16."""
    if weights.dim() != 2:
        return {name: weights.half()}
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.where(largest > 0, largest / MAX_INT8, 1.0).float()
    return {name: (weights / step).round().to(torch.int8), name + STEP_SUFFIX: step}


def tensors_of(tensors: Mapping[str, Stored]) -> dict[str, tuple[Stored, Stored | None]]:
    """Return each tensor of a file by name, with its steps if it is quantized.

    Raises ValueError for an int8 tensor whose steps are missing or are not one float32 per row.
    """
    steps = {name + STEP_SUFFIX for name, stored in tensors.items() if stored.dtype == "I8"}
    for name in steps:
        step, rows = tensors.get(name), tensors[name.removesuffix(STEP_SUFFIX)].shape[:1]
        if step is None or step.dtype != "F32" or step.shape != (*rows, 1):
            raise ValueError(
                f"has {name.removesuffix(STEP_SUFFIX)[:80]} in 8 bits without a step for each of its rows."
            )
    return {name: (stored, tensors.get(name + STEP_SUFFIX)) for name, stored in tensors.items() if name not in steps}


def read(stored: Stored, step: Stored | None) -> Tensor:
    """Read a tensor, dequantized if it has steps."""
    return stored.read() if step is None else stored.read() * step.read()
