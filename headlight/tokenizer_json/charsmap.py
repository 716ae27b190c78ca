"""The table that rewrites characters in SentencePiece models: a trie of keys, then their replacements.

The trie is a double array in the layout of Darts-clone: units of four bytes that point at each other. The replacements
follow it, each ending in a zero byte. Every pointer is checked here, so that none leads out of the table.
"""

from __future__ import annotations

import base64
import binascii
import sys
from array import array

MAX_CHARSMAP_BYTES = 2**22  # the largest that SentencePiece ships has 300,000
MAX_REPLACEMENT_CHARACTERS = 64  # for one character; Unicode's longest compatibility decomposition has 18
_BLOCK_UNITS = 256  # the children of a unit are in the same block of this size
_VALUE_FLAG = 1 << 31  # set in a unit that holds the offset of a replacement


def growth(encoded: str) -> int:
    """Return the largest number of characters that the table replaces one by.

    Raises ValueError for a broken table; its message continues "a table that".
    """
    if len(encoded) > 2 * MAX_CHARSMAP_BYTES:
        raise ValueError(f"has over {MAX_CHARSMAP_BYTES:,} bytes")
    try:
        content = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is not written in base 64") from None
    size = int.from_bytes(content[:4], "little")
    if len(content) < 4 or size > len(content) - 4 or size % 4 or not size:
        raise ValueError(f"claims {size:,} bytes and has {max(len(content) - 4, 0):,}")
    units = array("I", content[4 : 4 + size])
    if sys.byteorder == "big":
        units.byteswap()
    texts = content[4 + size :]
    try:
        texts.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("has replacements that are not UTF-8") from None
    return max((len(_text(texts, offset)) for offset in _offsets(units, len(texts))), default=1) or 1


def _offsets(units: array[int], n_bytes: int) -> set[int]:
    """Return the offsets of the replacements. The unit at p has its children at (p ^ its offset) ^ their bytes."""
    offsets = set()
    for at, unit in enumerate(units):
        if unit & _VALUE_FLAG:
            continue
        children = at ^ (unit >> 10) << ((unit & 1 << 9) >> 6)
        if children - children % _BLOCK_UNITS + _BLOCK_UNITS > len(units):
            raise ValueError("points out of itself")
        if unit & 1 << 8:
            offset = units[children] & ~_VALUE_FLAG
            if offset >= n_bytes:
                raise ValueError("points out of itself")
            offsets.add(offset)
    return offsets


def _text(texts: bytes, offset: int) -> str:
    """Return the text from `offset` up to the next zero."""
    end = texts.find(b"\0", offset, offset + 4 * MAX_REPLACEMENT_CHARACTERS + 1)
    if end < 0:
        raise ValueError(f"makes over {MAX_REPLACEMENT_CHARACTERS} characters of one")
    try:
        return texts[offset:end].decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("points into the middle of a character") from None
