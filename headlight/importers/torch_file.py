"""The files of `torch.save`: since PyTorch 1.6 a zip with the pickle and a member per storage; before, the pickle
followed by the storages.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.importers.archives import BudgetedReader
from headlight.importers.limits import MAX_LISTING_BYTES, MAX_PICKLE_BYTES
from headlight.importers.pickles import SAVE_COMMAND, Machine
from headlight.importers.torch_calls import TensorView
from transformer.checkpoint.weights import DTYPES, MAX_TENSORS, Refused, Stored
from transformer.files import open_regular
from transformer.quoting import quoted

COPY_AGAIN = "Copy it again."
LEGACY_HEADER = [0x1950A86A20F9469CFC6C, 1001]  # the magic number and the version at the start of the older files


@dataclass(frozen=True)
class TorchFile:
    """The object that was saved, with each tensor as a TensorView, and the first byte and size of each storage."""

    path: Path
    value: Any
    storages: Mapping[str, tuple[int, int]]

    def locate(self, name: str, view: TensorView) -> Stored:
        """Return the location of the tensor `name`. Raises Refused where it exceeds its storage."""
        itemsize = DTYPES[view.dtype].itemsize
        start, size = self.storages.get(view.storage.key, (0, -1))
        stored = Stored(self.path, start + view.offset * itemsize, view.shape, view.dtype, view.strides)
        if stored.numbers and (view.offset + stored.span) * itemsize > size:
            raise Refused(f"The tensor {quoted(name)} is larger than its data in the file ({max(size, 0):,} bytes).")
        return stored


def is_torch_zip(path: Path) -> bool:
    """Return whether a zip is one of `torch.save`'s, not an archive of files."""
    with open_regular(path) as file, zipfile.ZipFile(BudgetedReader(file, MAX_LISTING_BYTES)) as archive:
        return _pickle_of(archive.namelist()) is not None


def _pickle_of(names: list[str]) -> str | None:
    pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
    return pickles[0] if len(pickles) == 1 else None


def read_zip(path: Path, classes: frozenset[str] = frozenset()) -> TorchFile:
    """Read a zip; objects of the `classes` are read as DataObject.

    Raises Refused for a file that would run something, a damaged file, and a TorchScript program.
    """
    with open_regular(path) as file, zipfile.ZipFile(BudgetedReader(file, MAX_LISTING_BYTES)) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if len(members) < len(archive.infolist()):
            raise Refused(f"{path.name} has two members of the same name.", (), COPY_AGAIN)
        if len(members) > MAX_TENSORS + 20:
            raise Refused(f"The file has {len(members):,} blocks of numbers; no model here has over {MAX_TENSORS:,}.")
        pickle = _pickle_of(list(members))
        assert pickle is not None
        folder = pickle.removesuffix("data.pkl")
        if any(name.startswith(f"{folder}code/") for name in members):
            raise Refused(
                f"{path.name} is a program (TorchScript), not weights alone.", (), "Save those.", SAVE_COMMAND
            )
        spots = {name: _member_span(file, member, path) for name, member in members.items()}
        if f"{folder}byteorder" in spots and _bytes(file, *spots[f"{folder}byteorder"]) != b"little":
            raise Refused(f"{path.name} was written on a big-endian machine.", (), "Save it again on another.")
        start, size = spots[pickle]
        if size > MAX_PICKLE_BYTES:
            raise Refused(f"The file's list of tensors has {size:,} bytes; at most {MAX_PICKLE_BYTES:,} are read.")
        value = Machine(io.BytesIO(_bytes(file, start, size)), classes).read()
    data = f"{folder}data/"
    return TorchFile(path, value, {name.removeprefix(data): at for name, at in spots.items() if name.startswith(data)})


def _member_span(file: io.BufferedReader, member: zipfile.ZipInfo, path: Path) -> tuple[int, int]:
    """Return a member's first byte and its size. The length of the member's own header varies, so it is read."""
    if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size or member.flag_bits & 1:
        raise Refused(f"{path.name} was packed by another program than PyTorch.", (), "Save it again.", SAVE_COMMAND)
    header = _bytes(file, member.header_offset, 30)
    name, extra = struct.unpack("<26x2H", header)
    start = member.header_offset + len(header) + name + extra
    if header[:4] != b"PK\3\4" or start + member.file_size > path.stat().st_size:
        raise Refused(f"{path.name} is cut off, or its table of contents is wrong.", (), COPY_AGAIN)
    return start, member.file_size


def _bytes(file: io.BufferedReader, start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def read_legacy(path: Path, classes: frozenset[str] = frozenset()) -> TorchFile:
    """Read a file of PyTorch before 1.6, or any other pickle.

    Raises Refused for a file that would run something, and for a damaged file.
    """
    with open_regular(path) as file:
        machine = Machine(io.BytesIO(file.read(MAX_PICKLE_BYTES)), classes)
        value = machine.read()
        if value != LEGACY_HEADER[0]:
            return TorchFile(path, value, {})
        version, system, value, keys = (machine.read() for _ in range(4))
        if version != LEGACY_HEADER[1] or not system.get("little_endian"):
            raise Refused(f"{path.name} is of another version of PyTorch.", (), "Save it again.", SAVE_COMMAND)
        every = machine.storages.values()
        sizes = {storage.key: storage.size * DTYPES[storage.dtype or "U8"].itemsize for storage in every}
        storages, start, end = {}, machine.data.tell(), path.stat().st_size
        for key in keys:  # a count in 8 bytes, then the numbers
            storages[key] = (start + 8, sizes[key])
            start += 8 + sizes[key]
        if start != end:
            raise Refused(f"{path.name} should have {start:,} bytes, but has {end:,}.", (), COPY_AGAIN)
    return TorchFile(path, value, storages)
