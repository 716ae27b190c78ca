"""Texts of any script, cut where a reader sees one letter end and the next begin.

A grapheme is what is read as one letter: "é" of two code points, "क्षि" of four, a family of emoji of seven
(Unicode Standard Annex 29, extended grapheme clusters).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

import regex

_GRAPHEME = regex.compile(r"\X")
_AS_EMOJI = "\ufe0f"  # asks for the letter before it to be drawn as an emoji, which is wide


def graphemes(text: str) -> Iterator[str]:
    """Return the graphemes of a text; joined they are the text."""
    return (found[0] for found in _GRAPHEME.finditer(text))


def is_wide(grapheme: str) -> bool:
    """Return whether it takes twice the room of a Latin letter, as Chinese, Japanese, Korean and emoji do."""
    return any(unicodedata.east_asian_width(letter) in "WF" or letter == _AS_EMOJI for letter in grapheme)


def letters(grapheme: str) -> int:
    """Return the number of letters side by side in a grapheme: marks over and under a letter take no room."""
    return sum(unicodedata.category(letter) not in ("Mn", "Me", "Cf") for letter in grapheme)


def columns(text: str) -> int:
    """Return the width of the text in columns: one for a Latin letter, two for a Chinese one or an emoji."""
    return len(text) if text.isascii() else sum(2 if is_wide(one) else letters(one) for one in graphemes(text))


def shortened(text: str, most: float, size: Callable[[str], float] = columns) -> str:
    """Shorten a text to as many graphemes as fit into `most` with an ellipsis; `size` measures a text."""
    taken, end = 0.0, 0
    ellipsis = size("…")
    for found in _GRAPHEME.finditer(text):
        taken += size(found[0])
        if taken > most:
            return f"{text[:end]}…"
        if taken + ellipsis <= most:
            end = found.end()
    return text
