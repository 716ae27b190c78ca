"""Pieces that are bytes: parts of a character's UTF-8, for what a vocabulary has no piece for.

A byte is called "<0xE7>" in every kind of vocabulary, as SentencePiece calls it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

SPACE = "▁"  # stands for the space before a word, so that pieces joined are the text again
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_OF_SEVERAL = re.compile("<0x([89A-F][0-9A-F])>")  # a byte of a character that takes more than one
_NAMED = "headlight.bytes"


def _named(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(BYTES[byte] for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_NAMED, _named)


def byte_characters() -> dict[str, int]:
    """The characters that stand for the 256 bytes in byte-level vocabularies (Radford et al. 2019): those that can
    be printed for themselves, the others for the characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(0x100 + n): byte for n, byte in enumerate(others)}


_BYTES = byte_characters()


def spelled(piece: str) -> str:
    """A byte-level piece as its text, "Ġgirl" as "▁girl"; a part of a character by the names of its bytes."""
    if not all(character in _BYTES for character in piece):
        return piece
    text = bytes(_BYTES[character] for character in piece).decode("utf-8", _NAMED)
    return SPACE + text[1:] if text.startswith(" ") else text


def joined(labels: Iterable[str]) -> str:
    """Labels as one text, in which bytes that together are a character are that character; others keep their names."""
    whole = bytearray()
    for label in labels:
        for place, part in enumerate(_OF_SEVERAL.split(label)):
            whole += bytes.fromhex(part) if place % 2 else part.encode("utf-8", "replace")
    return whole.decode("utf-8", _NAMED)


def begins_in_bytes(piece: str) -> bool:
    return piece.startswith(BYTES)


def ends_in_bytes(piece: str) -> bool:
    return piece.endswith(BYTES)
