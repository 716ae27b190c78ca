"""Check translations against a list that people wrote: each source with every translation that they accept.

Each line of the list is a source and, after each tab, a translation. Only words and punctuation are compared: curly
quotes, kinds of spaces and the letter "œ" for "oe" make no translation wrong.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headlight.corpora.varied import without_end
from transformer.quoting import quoted

_PLAIN_TYPOGRAPHY = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "œ": "oe", "Œ": "Oe"},
)


class AcceptedSentence(NamedTuple):
    """A source and the translations of it that are accepted."""

    source: str
    accepted: tuple[str, ...]


class Failure(NamedTuple):
    """A source, and what was written for it that isn't accepted."""

    source: str
    written: str


def sentences(lines: Iterable[str]) -> list[AcceptedSentence]:
    """Parse the lines of a list.

    Raises ValueError naming the line that has no source or no translation.
    """
    listed = []
    for number, line in enumerate(lines, 1):
        source, *translations = (cell.strip() for cell in line.split("\t"))
        if not source or not translations or not all(translations):
            raise ValueError(
                f"Line {number:,} of the list is {quoted(line)}; write a source and after each tab a translation."
            )
        listed.append(AcceptedSentence(source, tuple(translations)))
    return listed


def accepted(translations: Sequence[str], listed: Sequence[AcceptedSentence]) -> tuple[int, list[Failure]]:
    """Return the number of accepted translations, and the failures; translation n is of sentence n of the list.

    Raises ValueError where there are more or fewer translations than sentences.
    """
    pairs = zip(listed, translations, strict=True)
    failed = [Failure(sentence.source, written) for sentence, written in pairs if not accepts(sentence, written)]
    return len(listed) - len(failed), failed


def accepts(sentence: AcceptedSentence, written: str) -> bool:
    """Return whether `written` is an accepted translation of the sentence.

    If the source begins without a capital, so may the translation; if the source lacks its last mark, the translation
    may lack or have one.
    """
    source, right = sentence.source, {normalised(translation) for translation in sentence.accepted}
    written = normalised(written)
    if without_end(source) == source:
        right |= {f"{text}." for text in right if without_end(text) == text} | {without_end(text) for text in right}
    if source[:1].islower():
        written, right = _small(written), {_small(text) for text in right}
    return written in right


def normalised(text: str) -> str:
    """Return a text with composed letters (NFC), straight quotes, "oe" as two letters, and single plain spaces, none
    before ! ? : ;
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    text = re.sub("« | »", lambda quote: quote[0].strip(), text).translate(_PLAIN_TYPOGRAPHY)
    return re.sub(" ([!?:;])", r"\1", text)


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
