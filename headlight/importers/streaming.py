"""Tensors written one by one: `safetensors`' own writer has to hold all of them at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from torch import Tensor

from transformer.checkpoint.safetensors_file import header_bytes
from transformer.checkpoint.weights import TensorInfo


def write_tensors(
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    tensor: Callable[[str], Tensor],
    progress: Callable[[float], None] | None = None,
) -> None:
    """A safetensors file in float32. `tensor` gives a name's numbers when their turn comes, `progress` is told the
    share that is written."""
    due, written = sum(math.prod(shape) for shape in shapes.values()), 0
    with open(path, "wb") as file:
        file.write(header_bytes({name: TensorInfo(shape, "F32") for name, shape in shapes.items()}, {}))
        for name, shape in shapes.items():
            numbers = tensor(name).float().contiguous()
            assert numbers.shape == shape, f"{name} is {tuple(numbers.shape)}, and must be {shape}"
            file.write(numbers.numpy().data)
            written += numbers.numel()
            del numbers  # before the next is made
            if progress is not None:
                progress(written / due)
