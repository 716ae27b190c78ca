"""Vary sentences as people type them: no capital, no full stop, "dont", curly quotes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from headlight.corpora.pairs import Corpus, Pair, Rejected
from headlight.formatting import percent

SENTENCE_ENDS = ".!?…。।"


def no_capital(text: str) -> str:
    """Write the first letter in lower case, also of a name, but not in "I" or a word in capitals such as "NASA"."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return text[:1].lower() + text[1:] if first[1:].islower() else text


def without_end(text: str) -> str:
    """Remove the punctuation at the end, and the space before it."""
    return text.rstrip().rstrip(SENTENCE_ENDS).rstrip() or text


def no_apostrophe(text: str) -> str:
    """Remove apostrophes between two letters: "dont" for "don't"."""
    return "".join(
        character
        for before, character, after in zip(f" {text}", text, f"{text[1:]} ", strict=False)
        if not (character in "'’" and before.isalpha() and after.isalpha())
    )


def curly_quotes(text: str) -> str:
    """Replace ' by ’, and " by “ or ”."""
    text, quotes = text.replace("'", "’"), text.count('"')
    for number in range(quotes):
        text = text.replace('"', "”" if number % 2 else "“", 1)
    return text


def straight_quotes(text: str) -> str:
    return text.translate(str.maketrans("‘’“”„«»", '\'\'"""""'))


CHANGES: tuple[Callable[[str], str], ...] = (
    no_capital,
    str.lower,
    without_end,
    no_apostrophe,
    curly_quotes,
    straight_quotes,
)


def vary(text: str, rng: random.Random) -> str:
    """Return `text` as somebody in a hurry types it, with at least one change if any applies."""
    applicable = [change for change in CHANGES if change(text) != text]
    chosen = [change for change in applicable if rng.random() < 0.5] or applicable[:1]
    for change in chosen:
        text = change(text)
    return text


class Varied(Corpus):
    """A corpus with the sources of a `share` of its pairs varied, the same ones for the same seed.

    The targets are unchanged: a carelessly typed sentence still gets a careful translation.
    """

    def __init__(self, corpus: Corpus, share: float, seed: int = 0) -> None:
        super().__init__(f"{corpus.name}, {percent(share)} varied", corpus.max_characters)
        self.corpus, self.share, self.seed = corpus, share, seed

    def rows(self) -> Iterator[Pair | Rejected]:
        rng = random.Random(f"vary {self.seed}")
        for row in self.corpus.rows():
            if isinstance(row, Pair) and rng.random() < self.share:
                row = row._replace(source=vary(row.source, rng))
            yield row
