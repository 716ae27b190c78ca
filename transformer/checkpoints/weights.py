"""A state dict whose names, shapes and types are known before any number of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


@dataclass(frozen=True)
class TensorInfo:
    shape: tuple[int, ...]
    dtype: str  # safetensors' names: F32, F16, BF16, I64, ...


class Weights(Protocol):
    """Tensors by name, each read when it is asked for."""

    @property
    def infos(self) -> Mapping[str, TensorInfo]: ...

    def tensor(self, name: str) -> Tensor:
        """The numbers, in their own type. Raises Refused where the file ends before they do."""
        ...
