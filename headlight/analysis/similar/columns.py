"""Columns of numbers in a folder: safetensors files that can be appended to, and are mapped into memory to be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from transformer.checkpoint.safetensors_file import header_bytes, read_header
from transformer.checkpoint.weights import DTYPES, TensorInfo, map_file
from transformer.files import take_usual_mode

SUFFIX = ".safetensors"
_TENSOR_NAME = "values"  # of the tensor in each file
_HEADER_BYTES = 256  # reserved for the header, which is written last


class ColumnWriter:
    """A writer that appends rows of `shape` to a file, as `dtype`: a name of safetensors, such as "F16"."""

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: str) -> None:
        self.path, self.shape, self.dtype, self.rows = path, shape, dtype, 0
        self._file = open(path, "wb")  # noqa: SIM115 `close` closes it
        self._file.write(bytes(_HEADER_BYTES))

    def append(self, rows: np.ndarray) -> None:
        """Append rows [N, *shape], converted to the column's type."""
        assert rows.shape[1:] == self.shape
        numpy_type = torch.empty(0, dtype=DTYPES[self.dtype]).numpy().dtype
        self._file.write(np.ascontiguousarray(rows, numpy_type).data)
        self.rows += len(rows)

    def close(self) -> None:
        """Write the header, and close the file."""
        info = TensorInfo((self.rows, *self.shape), self.dtype)
        header = header_bytes({_TENSOR_NAME: info}, {}, _HEADER_BYTES)
        assert len(header) == _HEADER_BYTES
        self._file.seek(0)
        self._file.write(header)
        self._file.close()
        take_usual_mode(self.path)


def read_column(path: Path, shape: tuple[int | None, ...], dtype: str) -> Tensor:
    """Return a column, mapped into memory. Raises ValueError unless it has that shape, where None is any size."""
    stored = read_header(path).tensors.get(_TENSOR_NAME)
    if stored is None or stored.dtype != dtype or len(stored.shape) != len(shape):
        raise ValueError(f"{path.name} does not hold what was written there.")
    if any(size is not None and size != there for size, there in zip(shape, stored.shape, strict=True)):
        raise ValueError(f"{path.name} has the shape {stored.shape}, which does not fit the model and the sentences.")
    if not stored.numbers:
        return torch.empty(stored.shape, dtype=DTYPES[dtype])
    return map_file(path)[stored.start :].view(DTYPES[dtype]).view(stored.shape)
