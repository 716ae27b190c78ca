"""Texts of any script, cut where a reader sees one letter end and the next begin.

A grapheme is what is read as one letter: "é" of two code points, "क्षि" of four, a family of emoji of seven
(Unicode Standard Annex 29, extended grapheme clusters).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

_GRAPHEME = regex.compile(r"\X")
_AS_EMOJI = "\ufe0f"  # asks for the letter before it to be drawn as an emoji, which is wide


def graphemes(text: str) -> Iterator[str]:
    """The graphemes of a text; joined they are the text."""
    return (found[0] for found in _GRAPHEME.finditer(text))


def columns(text: str) -> int:
    """How many columns of equal width the text takes: a Latin letter one, a Chinese one or an emoji two.

    Marks over and under a letter take none; the letters of a grapheme such as "क्ष" take one each.
    """
    return len(text) if text.isascii() else sum(map(_columns_of_one, graphemes(text)))


def _columns_of_one(grapheme: str) -> int:
    if any(unicodedata.east_asian_width(letter) in "WF" or letter == _AS_EMOJI for letter in grapheme):
        return 2
    return sum(unicodedata.category(letter) not in ("Mn", "Me", "Cf") for letter in grapheme)


def shortened(text: str, most: float) -> str:
    """The text, or as many of its graphemes as fit into `most` columns with an ellipsis after them."""
    taken = end = 0
    for found in _GRAPHEME.finditer(text):
        taken += _columns_of_one(found[0])
        if taken > most:
            return f"{text[:end]}…"
        if taken + 1 <= most:
            end = found.end()
    return text
