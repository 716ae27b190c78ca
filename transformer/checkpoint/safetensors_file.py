"""The safetensors format: eight bytes with the header's length, a JSON header, and the tensors' bytes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from transformer.checkpoint.weights import (
    DTYPES,
    MAX_HEADER_BYTES,
    MAX_TENSORS,
    Refused,
    Stored,
    TensorInfo,
    plain_shape,
    require_tensor_count,
)
from transformer.files import open_regular, take_usual_mode

# Counted before a header is parsed, since each makes an object many times its size.
MAX_HEADER_BRACKETS, MAX_HEADER_COMMAS = 4 * MAX_TENSORS, 20 * MAX_TENSORS
COPY_AGAIN = "Copy it again."


@dataclass(frozen=True)
class Header:
    tensors: dict[str, Stored]
    metadata: dict[str, str]
    start: int  # the byte at which the numbers begin


def read_header(path: Path) -> Header:
    """Read the location of each tensor, checked against the file's size. Raises Refused for an inconsistent header."""
    size = path.stat().st_size
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise Refused(
                f"{path.name} says that its header has {length:,} bytes, but the whole file has {size:,}.",
                (),
                COPY_AGAIN,
            )
        if length > MAX_HEADER_BYTES:
            raise Refused(f"The header of {path.name} has {length:,} bytes; at most {MAX_HEADER_BYTES:,} are read.")
        raw = file.read(length)
    require_tensor_count(raw.count(b'"data_offsets"') or 1)
    if raw.count(b"[") + raw.count(b"{") > MAX_HEADER_BRACKETS or raw.count(b",") > MAX_HEADER_COMMAS:
        raise Refused(f"The header of {path.name} is not that of a safetensors file.", (), COPY_AGAIN)
    try:
        entries = json.loads(raw.decode("utf-8"), object_pairs_hook=_require_unique_keys)
        metadata = entries.pop("__metadata__", {})
        tensors = {name: _parse_entry(path, 8 + length, entry) for name, entry in entries.items()}
    except Refused:
        raise
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise Refused(f"The header of {path.name} cannot be read: {str(error)[:100]}.", (), COPY_AGAIN) from None
    _require_contiguous(path, tensors, 8 + length, size)
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise Refused(f"The metadata in the header of {path.name} is not text.", (), COPY_AGAIN)
    return Header(tensors, metadata, 8 + length)


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name occurs twice")
    return values


def _parse_entry(path: Path, numbers: int, entry: dict[str, Any]) -> Stored:
    dtype, shape = entry["dtype"], plain_shape(entry["shape"])
    start, end = plain_shape(entry["data_offsets"])
    if dtype not in DTYPES:
        raise ValueError(f"the number type is {str(dtype)[:20]!r}, not one of {', '.join(DTYPES)}")
    if math.prod(shape) * DTYPES[dtype].itemsize != end - start:
        raise ValueError(f"a tensor of shape {shape} in {dtype} does not take {end - start} bytes")
    return Stored(path, numbers + start, shape, dtype)


def _require_contiguous(path: Path, tensors: dict[str, Stored], start: int, size: int) -> None:
    """Raise Refused unless the tensors follow each other without a gap, up to the file's last byte."""
    for stored in sorted(tensors.values(), key=lambda stored: (stored.start, stored.numbers)):
        if stored.start != start:
            raise Refused(f"The tensors of {path.name} overlap, or leave a gap, at byte {min(start, stored.start):,}.")
        start += stored.numbers * stored.itemsize
    if start != size:
        raise Refused(f"{path.name} should have {start:,} bytes, but has {size:,}.", (), COPY_AGAIN)


def write_tensors(tensors: dict[str, Tensor], path: Path, notes: dict[str, str] | None = None) -> None:
    """Write a safetensors file with the default mode of new files."""
    save_file(tensors, path, metadata=notes)
    take_usual_mode(path)


def header_bytes(infos: Mapping[str, TensorInfo | Stored], metadata: Mapping[str, str], size: int = 0) -> bytes:
    """Return the bytes of a file before its tensors, which follow one after the other in this order.

    They are padded to `size` bytes, a multiple of 8.
    """
    entries: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    start = 0
    for name, info in infos.items():
        end = start + math.prod(info.shape) * DTYPES[info.dtype].itemsize
        entries[name] = {"dtype": info.dtype, "shape": list(info.shape), "data_offsets": [start, end]}
        start = end
    raw = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    raw += b" " * max(-len(raw) % 8, size - 8 - len(raw))  # so that the numbers begin at a multiple of their size
    return len(raw).to_bytes(8, "little") + raw
