"""The direction of text, from left to right or from right to left.

`headlight/viewer/js/texts.js` decides by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# The blocks that the Unicode bidirectional algorithm keeps for scripts written from right to left.
_BLOCKS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]")
# [SOS], </s>, <0xD7>, >>heb<<, __he__: no words of the text.
_NAME = re.compile(r"▁?(\[.+\]|<.+>|>>.+<<|__.+__)")
_FIRST_STRONG, _POP = "\u2068", "\u2069"


def _strong(text: str) -> list[bool]:
    """Return for each letter whether it runs from right to left. Digits and punctuation have no direction of their own."""
    return [_BLOCKS.match(letter) is not None for letter in text if letter.isalpha()]


def right_to_left(labels: Iterable[str]) -> bool:
    """Return whether a sentence of these tokens runs from right to left: most of its letters do.

    The first letter would not tell: a sentence may begin with a Latin name, and tokens such as [SOS] are none of its
    words.
    """
    letters = [right for label in labels if not _NAME.fullmatch(label) for right in _strong(label)]
    return 2 * sum(letters) > len(letters)


def runs_left(label: str, sentence: bool) -> bool:
    """Return whether one token runs to the left: as its first letter does, and where it has none, as its `sentence`."""
    letters = _strong(label)
    return letters[0] if letters else sentence


def token_dir(label: str, sentence: bool = False) -> str:
    """Return the attribute `dir` of an HTML element with one token."""
    return "rtl" if runs_left(label, sentence) else "ltr"


def sentence_dir(labels: Iterable[str]) -> str:
    """Return the attribute `dir` of an HTML element with the tokens of a sentence in a row."""
    return "rtl" if right_to_left(labels) else "ltr"


def isolated(text: str) -> str:
    """Return a text for the middle of a sentence that is left to right, such that neither changes the order of the
    other.

    It is the text itself unless it has letters that run to the left: then it stands between two invisible characters.
    """
    return f"{_FIRST_STRONG}{text}{_POP}" if any(_strong(text)) else text
