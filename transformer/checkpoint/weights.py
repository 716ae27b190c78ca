"""A state dict whose names, shapes and dtypes are known before any tensor is read."""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from transformer.files import open_regular

# Limits on what a file of weights may declare; a file that declares more is refused before it is read.
MAX_WEIGHTS_BYTES = 24 * 2**30  # bytes; MADLAD-400 3B in float32 has 11.8e9, NLLB 3.3B 17.6e9
MAX_TENSORS = 10_000  # a model has some hundreds, thousands at most, and its optimizer two for each
MAX_NAME_CHARACTERS = 500  # characters of a tensor's name
MAX_DIMENSIONS = 16
MAX_DIMENSION_SIZE = 2**40
MAX_REPEATS = 4  # how often tensors may share numbers, which tied embeddings do three times
HARMLESS_BYTES = 2**24  # bytes below which repetition, or a high ratio of compression, is harmless
MAX_HEADER_BYTES = 2**25  # bytes of a safetensors header; it carries the tokenizers where a model is one file

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
}  # fmt: skip


class Refused(ValueError):
    """Raised for a refused file: the message says what is wrong, what was found and what to do about it."""

    def __init__(self, what: str, facts: tuple[tuple[str, str], ...] = (), remedy: str = "", command: str = ""):
        """`facts` are pairs such as ("Found at", "byte 61"); `command` converts the file to one that opens."""
        super().__init__(" ".join(part for part in (what, remedy) if part))
        self.what, self.facts, self.remedy, self.command = what, facts, remedy, command


@dataclass(frozen=True)
class TensorInfo:
    shape: tuple[int, ...]
    dtype: str  # safetensors' names: F32, F16, BF16, I64, ...


class Weights(Protocol):
    """Tensors by name, each read from its file on access."""

    @property
    def infos(self) -> Mapping[str, TensorInfo]: ...

    def tensor(self, name: str) -> Tensor:
        """Read a tensor in its stored dtype. Raises Refused where the file ends too early."""
        ...


@dataclass(frozen=True)
class Stored:
    """The location of a tensor: from byte `start` of `path` on, with `strides` in elements (None: contiguous)."""

    path: Path
    start: int
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...] | None = None

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)

    @property
    def span(self) -> int:
        """The number of elements between the tensor's first and last, both included."""
        if self.strides is None or not self.numbers:
            return self.numbers
        return 1 + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True))

    @property
    def itemsize(self) -> int:
        return DTYPES[self.dtype].itemsize

    def read(self) -> Tensor:
        """Read the tensor into new memory: a memory-mapped file counts twice, and may be replaced meanwhile."""
        try:
            numbers = torch.empty(self.span, dtype=DTYPES[self.dtype])
            raw = numbers.view(torch.uint8)
            with open_regular(self.path) as file:
                file.seek(self.start)
                read = file.readinto(raw.numpy().data)
            if self.strides is not None:
                numbers = numbers.as_strided(self.shape, self.strides)
            result = numbers.reshape(self.shape).contiguous()
        except OSError as error:
            raise Refused(f"{self.path.name} cannot be read: {error.strerror}.") from None
        except (RuntimeError, MemoryError):
            raise Refused(f"There is not enough memory for a tensor of shape {self.shape}.") from None
        if read < raw.numel():
            raise Refused(f"{self.path.name} ends in the middle of a tensor.", remedy="Copy it again.")
        # Any byte but 0 and 1 would be neither true nor false.
        return result.view(torch.uint8) != 0 if result.dtype == torch.bool else result


def map_file(path: Path) -> Tensor:
    """Map a file as bytes, read when first used. It may be replaced meanwhile, not overwritten; no write is saved."""
    with open_regular(path) as file:
        return torch.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), dtype=torch.uint8)


def require_tensor_count(tensors: int) -> None:
    if tensors > MAX_TENSORS:
        raise Refused(f"The file declares {tensors:,} tensors; no model that opens here has over {MAX_TENSORS:,}.")
    if not tensors:
        raise Refused("There is no tensor in the file.")


def require_weights_bytes(declared: int) -> None:
    if declared > MAX_WEIGHTS_BYTES:
        raise Refused(
            f"The file declares {declared:,} bytes of weights; at most {MAX_WEIGHTS_BYTES:,} are opened here."
        )


def require_name_length(name: str) -> None:
    if len(name) > MAX_NAME_CHARACTERS:
        raise Refused(f"A tensor's name has {len(name):,} characters: {name[:40]!r}…")


def plain_shape(sizes: Sequence[object]) -> tuple[int, ...]:
    """Return `sizes` as a shape. Raises ValueError for sizes that no tensor can have, before they are multiplied."""
    if len(sizes) > MAX_DIMENSIONS:
        raise ValueError(f"a tensor has {len(sizes):,} dimensions")
    shape = tuple(size for size in sizes if type(size) is int and 0 <= size <= MAX_DIMENSION_SIZE)
    if len(shape) < len(sizes):
        raise ValueError("a size is not a whole number that a tensor could have")
    return shape


# 8-bit absmax quantization of matrices by row (Dettmers et al. 2022, "LLM.int8()", section 2.1): each row is rounded to
# multiples of its step, the row's largest absolute value / 127. The steps are stored beside the matrix as the tensor
# `NAME.step`. Snapshots of a training are stored this way, in half the size of 16-bit weights.
STEP_SUFFIX = ".step"
MAX_INT8 = 127


def quantize(name: str, weights: Tensor) -> dict[str, Tensor]:
    """Quantize a matrix [rows, columns] to int8 with a step per row [rows, 1]; other tensors become float16."""
    if weights.dim() != 2:
        return {name: weights.half()}
    largest = weights.abs().amax(dim=1, keepdim=True)
    step = torch.where(largest > 0, largest / MAX_INT8, 1.0).float()
    return {name: (weights / step).round().to(torch.int8), name + STEP_SUFFIX: step}


def with_steps(tensors: Mapping[str, Stored]) -> dict[str, tuple[Stored, Stored | None]]:
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


def read_dequantized(stored: Stored, step: Stored | None, mapped: Tensor | None = None) -> Tensor:
    """Read a tensor, dequantized if it has steps; the bytes of its file are used in place where it is `mapped`."""
    if step is not None:
        return stored.read() * step.read()
    if mapped is None or not stored.numbers or stored.start % stored.itemsize:
        return stored.read()
    raw = mapped[stored.start : stored.start + stored.numbers * stored.itemsize]
    return raw.view(DTYPES[stored.dtype]).view(stored.shape)
