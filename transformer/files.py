"""Atomic writes, and reads with bounds.

Files are written to a temporary name and renamed. Only regular files are read, and only up to a size that files of
their kind can have.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Any

from transformer.access import require_readable
from transformer.quoting import short

MAX_JSON_BYTES = 50_000_000  # bytes; a configuration or card is a few thousand, a tokenizer a few million

MAX_JSON_VALUES = 5_000_000  # each takes many times its own size in memory; a tokenizer of 250,000 tokens has 1 million


def require_folder(path: Path) -> None:
    """Raise ValueError if the folder of a file does not exist."""
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {short(path.parent)}; make it, or choose another place for {path.name}.")


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file atomically. Raises ValueError if its folder does not exist."""
    path = Path(path)
    require_folder(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8 atomically. Raises ValueError if its folder does not exist."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def open_regular(path: str | Path) -> BufferedReader:
    """Open a regular file for reading bytes.

    Raises OSError as `open` does, and for a pipe, a socket or a device; ValueError if this process may not read it.
    """
    require_readable(path)
    return open(path, "rb", opener=_descriptor)


def _descriptor(path: str, flags: int) -> int:
    _require_regular(os.stat(path).st_mode)  # opening a device may have effects, and opening a pipe may block
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_regular(os.fstat(descriptor).st_mode)  # the name may refer to another file by now
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a folder is refused by `open` itself
        raise OSError(errno.EINVAL, "it is a pipe or a device, which may never end")


def read_bytes(path: str | Path, largest: int) -> bytes:
    """Read a whole regular file. Raises as `open_regular` does, and ValueError for more than `largest` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, largest) + 1)
    if len(content) > largest:
        raise ValueError(f"{short(path)} is larger than {largest:,} bytes, which no file of its kind is.")
    return content


def take_usual_mode(path: Path) -> None:
    """Give a file the default mode of new files: safetensors writes files that only their owner can read."""
    probe = path.with_name(f"{path.name}.mode.part")  # reading the umask would set it for a moment
    probe.touch()
    try:
        os.chmod(path, stat.S_IMODE(probe.stat().st_mode))
    finally:
        probe.unlink()


def set_aside(path: Path) -> Path:
    """Rename a damaged file or folder to the first free of "NAME.damaged", "NAME.damaged-2" and so on."""
    names = (f"{path.name}.damaged{f'-{n}' if n > 1 else ''}" for n in count(1))
    free = next(other for name in names if not os.path.lexists(other := path.with_name(name)))
    os.rename(path, free)
    return free


def remove(path: Path) -> None:
    """Remove a file, or a folder with its contents, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_json(path: str | Path, largest: int = MAX_JSON_BYTES) -> Any:
    """Read a JSON file. Raises ValueError in one sentence if it is missing, too large or not JSON."""
    named = short(path)
    try:
        content = read_bytes(path, largest)
    except FileNotFoundError:
        raise ValueError(f"{named} is missing.") from None
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror}.") from None
    if sum(map(content.count, (b",", b"[", b"{"))) > MAX_JSON_VALUES:
        raise ValueError(f"{named} holds over {MAX_JSON_VALUES:,} values, which no file of its kind does.")
    try:
        return json.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{named} is not JSON ({str(error)[:100]}); it may be cut off.") from None
    except ValueError:  # Python parses no int of over 4,300 digits
        raise ValueError(f"{named} holds a number of thousands of digits, which no file of its kind does.") from None
