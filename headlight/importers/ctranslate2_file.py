"""The `model.bin` of CTranslate2: a list of named variables, then names that stand for other names.

The layout is that of `ctranslate2/specs/model_spec.py` and of `src/models/model.cc`, which reads all versions:
little-endian; a string follows its length in 16 bits, which counts its closing zero. Before version 4 a variable has
the size of its numbers instead of their type.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint.weights import (
    DTYPES,
    MAX_NAME_CHARACTERS,
    Refused,
    Stored,
    plain_shape,
    require_tensor_count,
)
from transformer.files import open_regular

MAX_VERSION = 6  # of the binary layout
_START = re.compile(rb"[\x02-\x20]\0{3}..\w+Spec\0", re.DOTALL)  # version, length, name of the architecture
_DTYPES = ("F32", "I8", "I16", "I32", "F16", "BF16")  # in the order of their numbers in the file
_DTYPE_BY_SIZE = {4: "F32", 2: "I16", 1: "I8"}
_REMEDY = "Copy it again."


@dataclass(frozen=True)
class CTranslate2File:
    """The variables of a file by name and by alias."""

    architecture: str  # "TransformerSpec"
    revision: int  # of the names of the variables
    version: int  # of the binary layout
    tensors: Mapping[str, Stored]
    aliases: Mapping[str, str]


def is_ctranslate2(start: bytes) -> bool:
    """Return whether a file that begins with `start` is a model of CTranslate2, of version 2 or later."""
    return _START.match(start) is not None


def read(path: Path) -> CTranslate2File:
    """Read the names, shapes and types, but no weights. Raises Refused for a damaged file."""
    with open_regular(path) as file:
        return _CTranslate2Reader(path, file).read()


class _CTranslate2Reader:
    def __init__(self, path: Path, file: io.BufferedReader):
        self.path, self.file, self.end = path, file, path.stat().st_size

    def read(self) -> CTranslate2File:
        version = self._number("I")
        if version > MAX_VERSION:
            raise Refused(
                f"{self.path.name} has version {version} of CTranslate2's layout; known are those to {MAX_VERSION}.",
                remedy="Convert the model with an older CTranslate2, or import its original.",
            )
        architecture, revision = self._text(), self._number("I")
        count = self._number("I")
        require_tensor_count(count)
        tensors = dict(self._variable(version) for _ in range(count))
        if len(tensors) < count:
            raise Refused(f"{self.path.name} has two variables of one name.", remedy=_REMEDY)
        aliases = {}
        if version >= 3:
            count = self._number("I")
            require_tensor_count(len(tensors) + count)
            aliases = dict((self._text(), self._text()) for _ in range(count))
        if (end := self.file.tell()) != self.end:
            raise Refused(f"{self.path.name} should have {end:,} bytes, but has {self.end:,}.", (), _REMEDY)
        for alias, name in aliases.items():
            if name not in tensors or alias in tensors:
                raise Refused(f"{self.path.name} has a second name for a variable that it does not have.", (), _REMEDY)
        aliased = {alias: tensors[name] for alias, name in aliases.items()}
        scales = {f"{alias}_scale": scale for alias, name in aliases.items() if (scale := tensors.get(f"{name}_scale"))}
        return CTranslate2File(architecture, revision, version, {**scales, **tensors, **aliased}, aliases)

    def _variable(self, version: int) -> tuple[str, Stored]:
        name = self._text()
        shape = plain_shape([self._number("I") for _ in range(self._number("B"))])
        kind = self._number("B")
        dtype = dict(enumerate(_DTYPES) if version >= 4 else _DTYPE_BY_SIZE).get(kind)
        if dtype is None:
            raise Refused(f"{self.path.name} has {name[:80]!r} in an unknown type of numbers ({kind}).", (), _REMEDY)
        stored = Stored(self.path, 0, shape, dtype)
        size = stored.numbers * DTYPES[dtype].itemsize
        if self._number("I") != (size if version >= 4 else stored.numbers):
            raise Refused(f"{self.path.name} has {name[:80]!r} in another size than its shape has.", (), _REMEDY)
        start = self.file.tell()
        if start + size > self.end:
            raise Refused(f"{self.path.name} ends in the middle of a variable.", (), _REMEDY)
        self.file.seek(size, io.SEEK_CUR)
        return name, Stored(self.path, start, shape, dtype)

    def _text(self) -> str:
        length = self._number("H")
        if not 1 <= length <= MAX_NAME_CHARACTERS:
            raise Refused(f"{self.path.name} has a name of {length:,} characters.", (), _REMEDY)
        return self._bytes(length)[:-1].decode("utf-8")

    def _number(self, form: str) -> int:
        number: int = struct.unpack(f"<{form}", self._bytes(struct.calcsize(form)))[0]
        return number

    def _bytes(self, size: int) -> bytes:
        content = self.file.read(size)
        if len(content) < size:
            raise Refused(f"{self.path.name} ends too early.", (), _REMEDY)
        return content
