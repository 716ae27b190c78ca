"""Check whether the files of a folder are as they were written.

files.json   the size and the SHA-256 of every other file in the folder, written last

There are two checks: `flaw` looks at names, sizes and forms, which is cheap enough for a page that lists runs, and
`changed_file` reads every byte. A folder of an older version without files.json is judged by the forms of its files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from functools import lru_cache
from pathlib import Path

from headlight.checkpoints import file_checksum
from transformer.checkpoint.safetensors_file import read_header
from transformer.files import read_json, write_json

CHECKSUM_FILE = "files.json"
OPTIMIZER, POSITION, RECIPE = "optimizer.safetensors", "training.json", "recipe.json"
STATE_FILES = (OPTIMIZER, POSITION, RECIPE)  # files beside the model in a checkpoint; see state.py


def record(folder: Path) -> None:
    """Write the list of the files in the folder."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != CHECKSUM_FILE)
    entries = {path.name: {"bytes": path.stat().st_size, "sha256": file_checksum(path)} for path in files}
    write_json(folder / CHECKSUM_FILE, entries)


def flaw(folder: Path, names: Iterable[str]) -> str:
    """Return what is wrong with these files at a first look, without a full stop; "" where nothing is."""
    if not os.path.isdir(folder):  # unlike `Path.is_dir`, it never raises
        return f"{folder.name} is not a folder" if os.path.exists(folder) else f"{folder.name} is missing"
    records = recorded(folder)
    for name in names:
        try:
            file = (folder / name).stat()
        except OSError:
            return f"{name} is missing"
        if not stat.S_ISREG(file.st_mode):
            return f"{name} is not a file"
        size = records[name][0] if name in records else file.st_size
        if file.st_size != size:
            return f"{name} has {file.st_size:,} bytes, and had {size:,}"
        if wrong := _malformed(folder / name, file.st_mtime_ns, file.st_size):
            return wrong
    return ""


def changed_file(folder: Path, but: Collection[str] = ()) -> str:
    """Return which listed file, not in `but`, differs from its record, without a full stop; "" where none does."""
    for name, (_, checksum) in recorded(folder).items():
        if name in but:
            continue
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if file_checksum(path) != checksum:
            return f"{name} is not as it was written: its checksum is another"
    return ""


def recorded(folder: Path) -> dict[str, tuple[int, str]]:
    """Return the sizes and checksums in the folder's list; empty where there is no readable list."""
    try:
        listed = (folder / CHECKSUM_FILE).stat()
    except OSError:
        return {}
    return _read(folder / CHECKSUM_FILE, listed.st_mtime_ns, listed.st_size)


# Cached by modification time and size, since a page asks about the same files every two seconds.


@lru_cache(1000)
def _read(path: Path, mtime: int, size: int) -> dict[str, tuple[int, str]]:
    try:
        return {Path(name).name: (int(entry["bytes"]), str(entry["sha256"])) for name, entry in read_json(path).items()}
    except (ValueError, TypeError, AttributeError, KeyError, OverflowError):
        return {}


@lru_cache(4000)
def _malformed(path: Path, mtime: int, size: int) -> str:
    try:
        if path.suffix == ".safetensors":
            read_header(path)
        elif path.suffix == ".json":
            read_json(path)
    except (ValueError, OSError) as error:
        return str(error).replace(f"{path.parent}/", "").rstrip(".")
    return ""
