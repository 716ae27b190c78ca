"""Zip and tar archives of a model's folder, unpacked with limits and into a single folder."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from typing import IO, Any

from headlight.importers.limits import (
    MAX_COMPRESSION_RATIO,
    MAX_ENTRY_BYTES,
    MAX_FILES,
    MAX_FOLDER_DEPTH,
    MAX_LISTING_BYTES,
)
from transformer.checkpoint.weights import HARMLESS_BYTES, MAX_WEIGHTS_BYTES, Refused
from transformer.files import open_regular

# xz is left out, since the file decides how much memory unpacking takes.
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_SYSTEM_FILES = ("__MACOSX", ".DS_Store", "._")  # macOS adds these to archives


class BudgetedReader(io.RawIOBase):
    """A file of which only `budget` bytes may be read; a read beyond it means that a header lied about a size."""

    def __init__(self, file: IO[bytes], budget: int):
        self._file, self.budget = file, budget

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(min(size, self.budget + 1) if size >= 0 else self.budget + 1)
        self.budget -= len(piece)
        if self.budget < 0:
            raise Refused("The archive's own metadata is larger than that of any model.")
        return piece

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


def is_tar(start: bytes) -> bool:
    """Return whether a file that begins with `start` is a tar archive, compressed or not."""
    return start[257:262] == b"ustar" or any(start.startswith(magic) for magic in _OPENERS)


def unpack_zip(path: Path, folder: Path) -> None:
    """Unpack a zip into `folder`. Raises Refused for anything but plain files and folders within the limits."""
    with open_regular(path) as file, zipfile.ZipFile(reader := BudgetedReader(file, MAX_LISTING_BYTES)) as archive:
        infos = archive.infolist()
        _require_file_count(len(infos))
        for info in infos:
            mode = info.external_attr >> 16  # of Unix; 0 where another system packed it
            if mode & 0o170000 not in (0, 0o100000, 0o040000):
                raise Refused(f"The archive has a link or a device, {info.filename[:80]!r}, which is not unpacked.")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused(
                    "The archive is encrypted, or compressed by an unsupported method.",
                    (),
                    "Import the unpacked folder instead.",
                )
        files = [info for info in infos if not info.is_dir()]
        _require_unpacked_size(sum(info.file_size for info in files), path)
        reader.budget = path.stat().st_size + MAX_LISTING_BYTES * len(files)
        _write_members(((info.filename, info.file_size, archive.open(info)) for info in files), folder)


def unpack_tar(path: Path, folder: Path) -> None:
    """Unpack a tar archive into `folder`. Raises Refused for anything but plain files and folders within the limits."""
    with open_regular(path) as packed, _unpacked(packed) as file:
        reader = BudgetedReader(file, MAX_ENTRY_BYTES)
        with tarfile.open(fileobj=reader, mode="r:") as archive:
            _write_members(_tar_members(archive, reader, path), folder)


def _unpacked(file: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    start = file.read(6)
    file.seek(0)
    opener = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), nullcontext)
    unpacked: AbstractContextManager[IO[bytes]] = opener(file)
    return unpacked


def _tar_members(archive: tarfile.TarFile, reader: BudgetedReader, path: Path) -> Iterator[tuple[str, int, IO[bytes]]]:
    declared = 0
    for number, member in enumerate(archive, 1):
        _require_file_count(number)
        reader.budget = MAX_ENTRY_BYTES  # for the header of the next member
        if member.isdir():
            continue
        if not member.isfile() or member.issparse():
            raise Refused(f"The archive has a link or a device, {member.name[:80]!r}, which is not unpacked.")
        declared += member.size
        _require_unpacked_size(declared, path)
        content = archive.extractfile(member)
        assert content is not None
        reader.budget = member.size + MAX_ENTRY_BYTES
        yield member.name, member.size, content


def _require_file_count(files: int) -> None:
    if files > MAX_FILES:
        raise Refused(f"The archive has {files:,} files or more; at most {MAX_FILES:,} are unpacked.")


def _require_unpacked_size(declared: int, path: Path) -> None:
    packed = path.stat().st_size
    if declared > MAX_WEIGHTS_BYTES:
        raise Refused(f"The archive unpacks to {declared:,} bytes or more; at most {MAX_WEIGHTS_BYTES:,} are opened.")
    if declared > max(MAX_COMPRESSION_RATIO * packed, HARMLESS_BYTES):
        raise Refused(f"The archive has {packed:,} bytes and unpacks to {declared:,} or more, which no model does.")


def _write_members(members: Iterator[tuple[str, int, IO[bytes]]], folder: Path) -> None:
    """Write each member to its path under `folder`. Raises Refused at the first byte beyond a member's stated size."""
    written: set[str] = set()
    for name, size, content in members:
        parts = _parts(name)
        if any(part.startswith(_SYSTEM_FILES) for part in parts):
            continue
        if "/".join(parts).casefold() in written:
            raise Refused(f"The archive has two files named {'/'.join(parts)[:80]!r}.")
        written.add("/".join(parts).casefold())
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, open(target, "xb") as file:
            _copy(content, size, file)


def _copy(content: IO[bytes], size: int, file: IO[bytes]) -> None:
    while piece := content.read(MAX_ENTRY_BYTES):
        size -= len(piece)
        if size < 0:
            break
        file.write(piece)
    if size:
        raise Refused("The archive has a file whose size is not what the archive declares.")


def _parts(name: str) -> tuple[str, ...]:
    path = PurePosixPath(name)
    plain = not path.is_absolute() and path.parts and ".." not in path.parts
    if not plain or "\\" in name or ":" in name or not name.isprintable() or len(path.parts) > MAX_FOLDER_DEPTH:
        raise Refused(f"The archive has a file named {name[:80]!r}, which is not a plain path inside the archive.")
    return path.parts
