"""Vocabularies that Python or PyTorch pickled, read without unpickling: dictionaries, lists, and those of torchtext.

`pickles` parses the instructions without running them, and keeps the state of torchtext's classes as data.
"""

from __future__ import annotations

import pickletools
from itertools import islice
from pathlib import Path
from typing import Any

from headlight.importers.pickles import DataObject
from headlight.importers.torch_file import is_torch_zip, read_legacy, read_zip

ZIP_SIGNATURE = b"PK\x03\x04"
# The classes in Python, by torchtext version, and the C++ class that they wrap.
VOCABULARY_CLASSES = frozenset(
    {
        "torchtext.vocab.Vocab",
        "torchtext.vocab.vocab.Vocab",
        "torchtext.legacy.vocab.Vocab",
        "torchtext._torchtext.Vocab",
    }
)


def is_pickle(raw: bytes) -> bool:
    if raw.startswith((b"\x80", ZIP_SIGNATURE)):
        return True
    try:  # protocols 0 and 1 have no magic number, so the first instructions are parsed
        return raw.endswith(b".") and bool(list(islice(pickletools.genops(raw), 20)))
    except Exception:  # a list of words may raise anything
        return False


def read_pickled(path: Path, side: str) -> Any:
    """Return the words in order, or a dictionary of words and ids.

    Of a pair of vocabularies return the first, or for the "target" the second.
    """
    with open(path, "rb") as file:
        zipped = file.read(4) == ZIP_SIGNATURE
    if zipped and not is_torch_zip(path):
        return None
    value = (read_zip if zipped else read_legacy)(path, VOCABULARY_CLASSES).value
    paired = isinstance(value, list | tuple) and len(value) == 2 and not any(isinstance(part, str) for part in value)
    return _words(value[side == "target"] if paired else value)


def _words(value: Any) -> Any:
    for _ in range(3):  # a Python object may wrap a C++ object
        if not isinstance(value, DataObject):
            break
        value = _state_content(value.state)
    if isinstance(value, tuple):
        value = list(value)
    return value if isinstance(value, list | dict) else None


def _state_content(state: Any) -> Any:
    """Return the content of a torchtext object's state: version, numbers, words and tensors, or its attributes."""
    if isinstance(state, tuple):
        return state[2] if len(state) == 4 else None
    if isinstance(state, dict):
        return next((state[name] for name in ("vocab", "itos", "stoi") if state.get(name) is not None), None)
    return None
