"""8-bit absmax quantization of matrices by row (Dettmers et al. 2022, "LLM.int8()", section 2.1).

Each row is rounded to multiples of its step, the row's largest absolute value / 127. The steps are stored beside the
matrix as the tensor `NAME.step`. Snapshots of a training are stored this way, in half the size of 16-bit weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.checkpoint.weights import Stored

STEP = ".step"
LARGEST = 127


def rounded(name: str, weights: Tensor) -> dict[str, Tensor]:
    """Quantize a matrix [rows, columns] to int8 with a step per row [rows, 1]; other tensors become float16."""
    if weights.dim() != 2:
        return {name: weights.half()}
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.where(largest > 0, largest / LARGEST, 1.0).float()
    return {name: (weights / step).round().to(torch.int8), name + STEP: step}


def tensors_of(places: Mapping[str, Stored]) -> dict[str, tuple[Stored, Stored | None]]:
    """Return each tensor of a file by name, with its steps if it is quantized.

    Raises ValueError for an int8 tensor whose steps are missing or are not one float32 per row.
    """
    steps = {name + STEP for name, place in places.items() if place.dtype == "I8"}
    for name in steps:
        step, rows = places.get(name), places[name.removesuffix(STEP)].shape[:1]
        if step is None or step.dtype != "F32" or step.shape != (*rows, 1):
            raise ValueError(f"has {name.removesuffix(STEP)[:80]} in 8 bits without a step for each of its rows.")
    return {name: (place, places.get(name + STEP)) for name, place in places.items() if name not in steps}


def read(place: Stored, step: Stored | None) -> Tensor:
    """Read a tensor, dequantized if it has steps."""
    return place.read() if step is None else place.read() * step.read()
