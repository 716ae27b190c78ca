"""Generated pairs of short sentences that introduce people and state numbers, such as "My name is Nadine."."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from headlight.corpora.files import lines
from headlight.corpora.number_words import day_of_month, in_words
from headlight.corpora.pairs import Corpus, Pair
from headlight.corpora.slot_words import (
    SlotWords,
    genitive,
    is_certain,
    is_invariable,
    read_slot_words,
    with_elision,
)
from transformer.quoting import quoted

FRAMES = Path(__file__).parent / "slot_frames"  # a table per direction: a sentence with {slots}, its translation
DEFAULT_PAIRS = 20_000
_SLOT = re.compile(r"\{([a-z]+)(\d?)(:s)?\}")
_NAME_KINDS = {"x", "f", "m", "s"}


class Framed(Corpus):
    """The `size` pairs of sentence frames between two languages, the same for the same seed.

    The slots of a frame: x is a first name or a surname, f a woman's and m a man's first name, s a surname, c a city,
    day a weekday, month a month, d the day of a month, o the same as an ordinal, year a year, t a time of day, h an
    hour, n a number up to 99, big a number up to 9,999, dig a number in digits. Raises ValueError where there are no
    frames between the languages, or no names.
    """

    def __init__(self, source: str, target: str, size: int | None = None, seed: int = 0) -> None:
        super().__init__(f"Frames {source}-{target}")
        self.frames, self.languages = read_frames(source, target), (source, target)
        self.words = read_slot_words(self.languages)
        self.size, self.seed = DEFAULT_PAIRS if size is None else size, seed

    def rows(self) -> Iterator[Pair]:
        rng = random.Random(f"frames {self.seed}")
        for line in range(1, self.size + 1):
            source, target = fill_frame(rng.choice(self.frames), self.words, rng)
            yield Pair(line, source, target)


@cache
def read_frames(source: str, target: str) -> tuple[tuple[str, str], ...]:
    """Return the frames between two languages as (source, target). Raises ValueError where there are none."""
    for languages in ((source, target), (target, source)):
        path = FRAMES / f"{languages[0]}-{languages[1]}.tsv"
        if path.is_file():
            rows = [line.split("\t") for line in lines(path)]
            return tuple((a, b) if languages[0] == source else (b, a) for a, b in rows)
    raise ValueError(f"There are no frames for {quoted(f'{source}-{target}')}; choose slots:en-fr or slots:de-en.")


def fill_frame(frame: tuple[str, str], words: SlotWords, rng: random.Random) -> tuple[str, str]:
    """Return both sides of a frame with the same names and numbers in their slots."""
    values: dict[str, tuple[str, str]] = {}
    digits = rng.random() < 0.5
    for match in _SLOT.finditer(frame[0]):
        kind, name = match[1], match[1] + match[2]
        if kind in ("n", "h", "big"):
            amount = _amount(kind, digits, words, rng)
            source, target = words.languages
            values[name] = (str(amount),) * 2 if digits else (in_words(amount, source), in_words(amount, target))
        elif kind == "o":
            day = words.draw_number(rng, 1, 28)
            source, target = words.languages
            values[name] = day_of_month(day, source, digits), day_of_month(day, target, digits)
        else:
            values[name] = _draw(kind, name, frame, values, words, rng)
    return _write_side(frame[0], values, words.languages, 0), _write_side(frame[1], values, words.languages, 1)


def _amount(kind: str, digits: bool, words: SlotWords, rng: random.Random) -> int:
    """Return a number for a slot of this kind; without `digits`, one whose words are the same in every context."""
    low, high = {"n": (2, 12 if rng.random() < 0.4 else 99), "h": (2, 11)}.get(kind, (13, 9999 if digits else 999))
    while True:
        number = words.draw_number(rng, low, high)
        if kind == "h" or digits or is_invariable(number):
            return number


def _draw(
    kind: str,
    name: str,
    frame: tuple[str, str],
    values: dict[str, tuple[str, str]],
    words: SlotWords,
    rng: random.Random,
) -> tuple[str, str]:
    """Return a value for a slot other than an amount, spelled for both sides, different from those of other slots."""
    while True:
        if kind in _NAME_KINDS:
            by_kind = {"f": words.female, "m": words.male, "s": words.surnames}
            names = by_kind[kind] if kind in by_kind else rng.choice(list(by_kind.values()))
            value = (rng.choice(names),) * 2
        elif kind in ("c", "day", "month"):
            value = rng.choice({"c": words.cities, "day": words.weekdays, "month": words.months}[kind])
        elif kind == "t":
            hour, minute = rng.randint(1, 23), rng.randint(0, 59)
            clock = {language: f"{hour}:{minute:02}" for language in words.languages} | {"fr": f"{hour} h {minute:02}"}
            value = clock[words.languages[0]], clock[words.languages[1]]
        else:
            low, high = {"d": (2, 28), "year": (1900, 2040), "dig": (13, 9999)}[kind]
            value = (str(words.draw_number(rng, low, high)),) * 2
        if value not in values.values() and all(map(_is_certain, (name, name), frame, value, words.languages)):
            return value


def _is_certain(name: str, text: str, value: str, language: str) -> bool:
    has_genitive = f"{{{name}:s}}" in text or f"{{{name}}}'s" in text
    return is_certain(value, text.partition(f"{{{name}}}")[0], has_genitive, language)


def _write_side(text: str, values: dict[str, tuple[str, str]], languages: tuple[str, str], side: int) -> str:
    filled_in, last = "", 0
    for match in _SLOT.finditer(text):
        filled_in += text[last : match.start()]
        value = values[match[1] + match[2]][side]
        if languages[side] == "fr" and (match[1] in _NAME_KINDS or match[1] in ("c", "month")):
            filled_in = with_elision(filled_in, value)
        filled_in += genitive(value) if match[3] else value
        last = match.end()
    filled_in += text[last:]
    return filled_in[:1].upper() + filled_in[1:]
