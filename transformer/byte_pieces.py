"""Byte-level pieces: tokens that stand for a byte of a character's UTF-8, used where the vocabulary lacks the
character.

A byte is labelled "<0xE7>" whatever the vocabulary calls it, as SentencePiece does.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

SPACE = "▁"  # stands for the space before a word, so that pieces joined are the text again
BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_MULTIBYTE = re.compile("<0x([89A-F][0-9A-F])>")  # a byte of a character that takes more than one
_ERROR_HANDLER = "headlight.bytes"


def _name_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(BYTE_NAMES[byte] for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_ERROR_HANDLER, _name_bytes)


def byte_characters() -> dict[str, int]:
    """Return the characters that stand for the 256 bytes in byte-level vocabularies (Radford et al. 2019).

    A printable byte stands for itself; the other bytes are written as the characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unprintable = (byte for byte in range(256) if byte not in printable)
    return {chr(byte): byte for byte in printable} | {chr(0x100 + n): byte for n, byte in enumerate(unprintable)}


_BYTE_OF_CHARACTER = byte_characters()


def decode_bytes(piece: str) -> str:
    """Decode a byte-level piece: "Ġgirl" becomes "▁girl". A byte of an incomplete character becomes "<0xE7>"."""
    if not all(character in _BYTE_OF_CHARACTER for character in piece):
        return piece
    text = bytes(_BYTE_OF_CHARACTER[character] for character in piece).decode("utf-8", _ERROR_HANDLER)
    return SPACE + text[1:] if text.startswith(" ") else text


def join_labels(labels: Iterable[str]) -> str:
    """Join labels to one text; consecutive byte labels that form a character become that character."""
    whole = bytearray()
    for label in labels:
        for index, part in enumerate(_MULTIBYTE.split(label)):
            whole += bytes.fromhex(part) if index % 2 else part.encode("utf-8", "replace")
    return whole.decode("utf-8", _ERROR_HANDLER)


def starts_with_byte(piece: str) -> bool:
    return piece.startswith(BYTE_NAMES)


def ends_with_byte(piece: str) -> bool:
    return piece.endswith(BYTE_NAMES)
