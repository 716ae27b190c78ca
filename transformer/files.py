"""Reading and writing files so that nothing is half there: a temporary name first, then a rename."""

from __future__ import annotations

import json
import os
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
