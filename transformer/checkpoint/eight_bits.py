"""Matrices in 8 bits: each row is rounded to whole multiples of a step of its own, the row's largest number / 127.

That is absmax quantization by vectors (Dettmers et al. 2022, "LLM.int8()", section 2.1). A step stands beside its
matrix, as the tensor `NAME.step`. It is for snapshots that are looked at: half the size of 16-bit weights.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer.checkpoint.weights import Stored

STEP = ".step"
LARGEST = 127


def rounded(name: str, weights: Tensor) -> dict[str, Tensor]:
    """A matrix [rows, columns] as whole numbers of 8 bits and its rows' steps [rows, 1]; all else in 16 bits."""
    if weights.dim() != 2:
        return {name: weights.half()}
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.where(largest > 0, largest / LARGEST, 1.0).float()
    return {name: (weights / step).round().to(torch.int8), name + STEP: step}


def tensors_of(places: Mapping[str, Stored]) -> dict[str, tuple[Stored, Stored | None]]:
    """Each tensor of a file by its name, with the steps of its rows where it is in 8 bits.

    Raises ValueError for 8 bits whose steps are missing, or are not one floating-point number a row.
    """
    steps = {name + STEP for name, place in places.items() if place.dtype == "I8"}
    for name in steps:
        step, rows = places.get(name), places[name.removesuffix(STEP)].shape[:1]
        if step is None or step.dtype != "F32" or step.shape != (*rows, 1):
            raise ValueError(f"has {name.removesuffix(STEP)[:80]} in 8 bits without a step for each of its rows.")
    return {name: (place, places.get(name + STEP)) for name, place in places.items() if name not in steps}


def read(place: Stored, step: Stored | None) -> Tensor:
    """The numbers that were rounded, as near as 8 bits are to them; any other tensor as it is."""
    return place.read() if step is None else place.read() * step.read()
