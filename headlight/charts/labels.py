"""Tokens as labels: escaped for Plotly's pseudo-HTML, measured, and cut to fit."""

import html
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from headlight.graphemes import graphemes, is_wide, letters, shortened

FONT_SIZE = 14  # pixels
FONTS = Path(__file__).parent / "fonts"
# The average width of a letter in ems: in the alphabets of Europe, in the scripts from Hebrew to Balinese, and in
# scripts with square letters.
_NARROW_EMS, _BROAD_EMS, _WIDE_EMS = 0.52, 0.62, 1.0


def escaped(text: str) -> str:
    """Return text that Plotly shows literally: it would read <b>, <a href>, &lt; and $...$ as markup."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def width(text: str, size: float = FONT_SIZE) -> float:
    """Return the approximate width of a text in pixels at a font size."""
    return size * (_NARROW_EMS * len(text) if text.isascii() else sum(map(_ems, graphemes(text))))


def _ems(grapheme: str) -> float:
    if is_wide(grapheme):
        return _WIDE_EMS
    return letters(grapheme) * (_BROAD_EMS if "\u0590" <= grapheme < "\u1e00" else _NARROW_EMS)


def widest(labels: Iterable[str], size: float = FONT_SIZE) -> float:
    return max((width(label, size) for label in labels), default=0.0)


def cut(label: str, room: float, size: float = FONT_SIZE) -> str:
    """Return the label, cut with an ellipsis if it does not fit into `room` pixels."""
    return shortened(label, room, partial(width, size=size))


def wrapped(text: str, room: float, size: float = FONT_SIZE) -> list[str]:
    """Return the text in lines of at most `room` pixels at a font size of `size`; only a word longer than that is cut.
    """
    lines: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        if lines and width(lines[-1] + word.rstrip(), size) <= room:
            lines[-1] += word
            continue
        lines.append("")
        for letter in graphemes(word):
            if lines[-1] and not letter.isspace() and width(lines[-1] + letter, size) > room:
                lines.append("")
            lines[-1] += letter
    return [line.rstrip() for line in lines]


def ordinal(number: int) -> str:
    """Return an ordinal: 1st, 2nd, 3rd, 4th, 11th, 21st."""
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
