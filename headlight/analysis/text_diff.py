"""Compare two translations word by word: what was deleted and what was inserted."""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

Op = Literal["equal", "delete", "insert"]


def text_diff(before: str, after: str) -> list[tuple[Op, str]]:
    """Return the pieces of text in the order in which they are shown, what was deleted before what replaced it.

    Joined, the pieces that aren't deleted are `after`, with each run of white space as one space.
    """
    old, new = _words(before), _words(after)
    pieces: list[tuple[Op, str]] = []
    for op, i, j, k, m in SequenceMatcher(None, _bare(old), _bare(new), autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(("equal", "".join(new[k:m])))
            continue
        if i < j:
            pieces.append(("delete", "".join(old[i:j])))
        if k < m:
            pieces.append(("insert", "".join(new[k:m])))
    return pieces


def _words(text: str) -> list[str]:
    """Return words and single marks of punctuation, each with a space before it where the text has one or begins."""
    words = []
    for chunk in text.split():
        runs = ["".join(run) for _, run in groupby(chunk, _alike)]
        words += [" " + runs[0], *runs[1:]]
    return words


def _bare(words: list[str]) -> list[str]:
    return [word.lstrip() for word in words]


def _alike(character: str) -> bool | str:
    """Return the same for all characters of a word; each mark of punctuation and each symbol is of its own kind."""
    return character if unicodedata.category(character)[0] in "PS" else True
