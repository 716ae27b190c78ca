"""Tokens as labels: literal in Plotly's pseudo-HTML, cut to the room there is, and how wide they come out."""

import html
import re
import unicodedata
from collections.abc import Iterable

FONT_SIZE = 14  # pixels
_LETTER, _WIDE_LETTER = 0.52, 1.0  # in ems, on average; Chinese, Japanese and emoji are wide


def escaped(text: str) -> str:
    """Text that Plotly shows literally: it would read <b>, <a href>, &lt; and $...$ as markup."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def width(text: str) -> float:
    """About how many pixels the text takes."""
    letters = (unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return FONT_SIZE * sum(_WIDE_LETTER if wide else _LETTER for wide in letters)


def widest(labels: Iterable[str]) -> float:
    return max(map(width, labels), default=0.0)


def cut(label: str, room: float) -> str:
    """The label, or as much of it as `room` pixels hold, and an ellipsis."""
    if len(label) * _LETTER * FONT_SIZE <= room and width(label) <= room:
        return label
    kept = label[: int(room / (_LETTER * FONT_SIZE))]
    while kept and width(kept + "…") > room:
        kept = kept[:-1]
    return kept + "…"


def wrapped(text: str, room: float, size: float = FONT_SIZE) -> list[str]:
    """The text in lines of at most `room` pixels at a font size of `size`; only a word longer than that is cut."""
    room *= FONT_SIZE / size
    lines: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        if lines and width(lines[-1] + word.rstrip()) <= room:
            lines[-1] += word
            continue
        lines.append("")
        for letter in word:
            if lines[-1] and not letter.isspace() and width(lines[-1] + letter) > room:
                lines.append("")
            lines[-1] += letter
    return [line.rstrip() for line in lines]


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st"""
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
