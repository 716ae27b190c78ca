"""A native folder as a single file: a zip, or a safetensors file with the other files in its header's metadata."""

from __future__ import annotations

import base64
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

from transformer.checkpoint import safetensors_file
from transformer.checkpoint.native import CARD, CONFIG, SHARED, SOURCE, TARGET, WEIGHTS
from transformer.checkpoint.weights import MAX_HEADER_BYTES, Refused
from transformer.files import MAX_JSON_BYTES, open_regular, read_bytes
from transformer.quoting import short

METADATA_FILES = (CONFIG, CARD, SHARED, SOURCE, TARGET)  # a file's name is the key of its metadata
_CHUNK_BYTES = 2**20


def zip_folder(folder: Path, out: Path) -> None:
    """Write the native folder as a zip, the same bytes each time. Raises ValueError for a folder without a model."""
    files = [folder / name for name in sorted((WEIGHTS, *METADATA_FILES)) if (folder / name).is_file()]
    _require_model(folder)

    def write(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            for path in files:  # weights do not compress
                method = zipfile.ZIP_STORED if path.name == WEIGHTS else zipfile.ZIP_DEFLATED
                member = zipfile.ZipInfo(f"{folder.resolve().name}/{path.name}")  # dated 1980
                member.compress_type, member.external_attr = method, 0o644 << 16
                member.file_size = path.stat().st_size
                with open_regular(path) as content, archive.open(member, "w") as target:
                    shutil.copyfileobj(content, target, _CHUNK_BYTES)

    _write(out, write)


def safetensors_bundle(folder: Path, out: Path) -> None:
    """Write the native folder as a safetensors file, whose weights any program for that format can read.

    Raises ValueError for a folder without a model, or if its tokenizers are too large for a header.
    """
    _require_model(folder)
    header = safetensors_file.read_header(folder / WEIGHTS)
    notes = {name: _packed(folder / name) for name in METADATA_FILES if (folder / name).is_file()}
    start = safetensors_file.header_bytes(header.tensors, {"format": "pt", **notes})
    if len(start) > MAX_HEADER_BYTES:
        raise ValueError(f"The tokenizers of {short(folder)} are too large for one file; export it as a zip.")

    def write(file: BinaryIO) -> None:
        file.write(start)
        with open_regular(folder / WEIGHTS) as weights:
            weights.seek(header.start)
            shutil.copyfileobj(weights, file, _CHUNK_BYTES)

    _write(out, write)


def is_bundle(notes: Mapping[str, str]) -> bool:
    """Return whether the metadata of a safetensors file is a native folder's."""
    return CONFIG in notes


def unpack(path: Path, notes: Mapping[str, str], folder: Path) -> None:
    """Unpack the bundle `path` into the native folder `folder`, with a link to the bundle as its weights."""
    for name in METADATA_FILES:
        if name in notes:
            (folder / name).write_bytes(_unpacked(notes[name]))
    try:
        (folder / WEIGHTS).symlink_to(path.resolve())
    except OSError:  # a system without links
        shutil.copyfile(path, folder / WEIGHTS)


def _packed(path: Path) -> str:
    return base64.b64encode(zlib.compress(read_bytes(path, MAX_JSON_BYTES), 9)).decode()


def _unpacked(note: str) -> bytes:
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(base64.b64decode(note), MAX_JSON_BYTES)
    if not unpacking.eof:
        raise Refused(f"The file's metadata is cut off, or unpacks to over {MAX_JSON_BYTES:,} bytes.")
    return content


def _require_model(folder: Path) -> None:
    for name in (WEIGHTS, CONFIG):
        if not (folder / name).is_file():
            raise ValueError(f"{short(folder / name)} is missing; give the folder of a model.")


def _write(out: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write under a temporary name and rename, so that `out` is complete or absent."""
    temporary = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            write(file)
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
