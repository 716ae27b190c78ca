"""Split texts of any script into graphemes, and detect their direction.

A grapheme is what is read as one letter: "é" of two code points, "क्षि" of four, a family of emoji of seven (Unicode
Standard Annex 29, extended grapheme clusters). Arabic, Hebrew and a dozen other scripts are written from right to left;
`headlight/viewer/js/texts.js` decides by the same rules.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator

import regex

_GRAPHEME = regex.compile(r"\X")
_EMOJI_SELECTOR = "\ufe0f"  # makes the character before it an emoji, which is wide
# The blocks that the Unicode bidirectional algorithm reserves for scripts written from right to left.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
# [SOS], </s>, <0xD7>, >>heb<<, __he__: tokens that are no words of the text.
_SPECIAL_TOKEN = re.compile(r"▁?(\[.+\]|<.+>|>>.+<<|__.+__)")
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def graphemes(text: str) -> Iterator[str]:
    """Return the graphemes of a text; joined they are the text."""
    return (match[0] for match in _GRAPHEME.finditer(text))


def is_wide(grapheme: str) -> bool:
    """Return whether a grapheme is twice as wide as a Latin letter, as Chinese, Japanese, Korean and emoji are."""
    return any(unicodedata.east_asian_width(letter) in "WF" or letter == _EMOJI_SELECTOR for letter in grapheme)


def letters(grapheme: str) -> int:
    """Return the number of letters in a grapheme; marks over and under a letter take no room."""
    return sum(unicodedata.category(letter) not in ("Mn", "Me", "Cf") for letter in grapheme)


def columns(text: str) -> int:
    """Return the width of the text in columns: one for a Latin letter, two for a Chinese one or an emoji."""
    if text.isascii():
        return len(text)
    return sum(2 if is_wide(grapheme) else letters(grapheme) for grapheme in graphemes(text))


def shortened(text: str, max_size: float, size: Callable[[str], float] = columns) -> str:
    """Shorten a text to as many graphemes as fit into `max_size` with an ellipsis; `size` measures a text."""
    width, end = 0.0, 0
    ellipsis = size("…")
    for match in _GRAPHEME.finditer(text):
        width += size(match[0])
        if width > max_size:
            return f"{text[:end]}…"
        if width + ellipsis <= max_size:
            end = match.end()
    return text


def _strong(text: str) -> list[bool]:
    """Return for each letter whether it runs to the left. Digits and punctuation have no direction of their own."""
    return [_RIGHT_TO_LEFT.match(letter) is not None for letter in text if letter.isalpha()]


def right_to_left(labels: Iterable[str]) -> bool:
    """Return whether a sentence of these tokens runs from right to left: most of its letters do.

    The first letter would not tell, since a sentence may begin with a Latin name. Tokens such as [SOS] do not count.
    """
    leftwards = [right for label in labels if not _SPECIAL_TOKEN.fullmatch(label) for right in _strong(label)]
    return 2 * sum(leftwards) > len(leftwards)


def runs_left(label: str, sentence: bool) -> bool:
    """Return whether a token runs to the left, as its first letter does; without letters, as its `sentence` does."""
    leftwards = _strong(label)
    return leftwards[0] if leftwards else sentence


def token_dir(label: str, sentence: bool = False) -> str:
    """Return the attribute `dir` of an HTML element with one token."""
    return "rtl" if runs_left(label, sentence) else "ltr"


def sentence_dir(labels: Iterable[str]) -> str:
    """Return the attribute `dir` of an HTML element with the tokens of a sentence in a row."""
    return "rtl" if right_to_left(labels) else "ltr"


def isolated(text: str) -> str:
    """Return a text to be put into a left-to-right sentence, such that neither changes the order of the other.

    A text with letters that run to the left is put between two invisible characters; any other stays as it is.
    """
    return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}" if any(_strong(text)) else text
