"""Reading and writing files so that nothing is half there: a temporary name first, then a rename."""

from __future__ import annotations

import json
import os
import stat
from itertools import count
from pathlib import Path
from typing import Any

LARGEST_JSON = 50_000_000  # bytes; a configuration or card is a few thousand, a tokenizer a few million

MOST_VALUES = 5_000_000  # each takes many times its own size in memory; a tokenizer of 250,000 tokens has 1 million


def write_text(path: str | Path, text: str) -> None:
    path = Path(path)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def write_json(path: str | Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


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


def read_json(path: str | Path, largest: int = LARGEST_JSON) -> Any:
    """What the file holds. Raises ValueError in one sentence where it is missing, too large or not JSON."""
    path = Path(path)
    try:
        if path.stat().st_size > largest:
            raise ValueError(f"{path} is larger than {largest:,} bytes, which no file of its kind is.")
        if not path.is_file():
            raise ValueError(f"{path} is not a file.")
        text = path.read_text(encoding="utf-8")
        if sum(map(text.count, ",[{")) > MOST_VALUES:
            raise ValueError(f"{path} holds over {MOST_VALUES:,} values, which no file of its kind does.")
        return json.loads(text)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing.") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({str(error)[:100]}); it may be cut off.") from None
