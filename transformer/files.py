"""Writing files so that nothing is half there, and reading them so that it ends.

What is written has a temporary name first, and is renamed. What is read, by whatever name somebody gave, is a regular
file, and no more of it than its kind may have.
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

LARGEST_JSON = 50_000_000  # bytes; a configuration or card is a few thousand, a tokenizer a few million

MOST_VALUES = 5_000_000  # each takes many times its own size in memory; a tokenizer of 250,000 tokens has 1 million


def require_folder(path: Path) -> None:
    """Raises ValueError where there is no folder for a file of that name."""
    if not path.parent.is_dir():
        raise ValueError(f"There is no folder {short(path.parent)}; make it, or choose another place for {path.name}.")


def write_text(path: str | Path, text: str) -> None:
    """Writes a whole file. Raises ValueError where there is no folder for it."""
    path = Path(path)
    require_folder(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def write_json(path: str | Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def open_regular(path: str | Path) -> BufferedReader:
    """Opens a regular file to read its bytes.

    Raises OSError as `open` does, and for a pipe, a socket or a device; ValueError where this process may not read it.
    """
    require_readable(path)
    return open(path, "rb", opener=_descriptor)


def _descriptor(path: str, flags: int) -> int:
    _require_regular(os.stat(path).st_mode)  # a device may do something as soon as it is opened, and a pipe waits
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_regular(os.fstat(descriptor).st_mode)  # another may stand under that name by now
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _require_regular(mode: int) -> None:
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a folder is refused by `open` itself
        raise OSError(errno.EINVAL, "it is a pipe or a device, which may never end")


def read_bytes(path: str | Path, largest: int) -> bytes:
    """All of a regular file. Raises as `open_regular`, and ValueError where it has over `largest` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(min(size, largest) + 1)
    if len(content) > largest:
        raise ValueError(f"{short(path)} is larger than {largest:,} bytes, which no file of its kind is.")
    return content


def take_usual_mode(path: Path) -> None:
    """Gives a file the mode that new files get in its folder: safetensors makes its own for their owner alone."""
    probe = path.with_name(f"{path.name}.mode.part")  # asking for the umask would change it for a moment
    probe.touch()
    try:
        os.chmod(path, stat.S_IMODE(probe.stat().st_mode))
    finally:
        probe.unlink()


def set_aside(path: Path) -> Path:
    """Renames what is damaged to the first free of "NAME.damaged", "NAME.damaged-2" and so on; nothing is deleted."""
    names = (f"{path.name}.damaged{f'-{n}' if n > 1 else ''}" for n in count(1))
    free = next(other for name in names if not os.path.lexists(other := path.with_name(name)))
    os.rename(path, free)
    return free


def remove(path: Path) -> None:
    """Removes what stands there, a file or a folder with all that is in it, if anything does."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_json(path: str | Path, largest: int = LARGEST_JSON) -> Any:
    """What the file holds. Raises ValueError in one sentence where it is missing, too large or not JSON."""
    named = short(path)
    try:
        content = read_bytes(path, largest)
    except FileNotFoundError:
        raise ValueError(f"{named} is missing.") from None
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror}.") from None
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError(f"{named} holds over {MOST_VALUES:,} values, which no file of its kind does.")
    try:
        return json.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{named} is not JSON ({str(error)[:100]}); it may be cut off.") from None
    except ValueError:  # Python reads no whole number of over 4,300 digits
        raise ValueError(f"{named} holds a number of thousands of digits, which no file of its kind does.") from None
