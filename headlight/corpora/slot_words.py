"""The names and numbers that fill slots, and their spelling in English, French and German."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headlight.corpora.files import everyday_folder, lines
from headlight.corpora.number_words import in_words
from headlight.corpora.word_tables import read_table
from transformer.quoting import short

SLOT_LANGUAGES = ("en", "fr", "de")
NAMES = "names.tsv"
# 120 first names and 80 surnames that no corpus, phrase book or grammar of the shipped models has, chosen by a hash;
# 100 numbers below 1,000 and 100 below 10,000 whose digits stand in none of them.
HELD_OUT = Path(__file__).parent / "held_out_slots.tsv"
NOT_NAMES = Path(__file__).parent / "names_that_are_words.txt"
WORD_LISTS = dict(
    read_table(Path(__file__).parent / "slot_lists.tsv", lambda row: (row["list"], tuple(row["words"].split())))
)
_NAME = re.compile(r"[A-ZÀ-ÖØ-ÞŒ][a-zß-öø-ÿœ]{2,11}")
_SYLLABLE = re.compile(r"(?<=[aeiouyà-öø-ÿœ])(?=[bcdfghj-np-tvwxzßçñ])")
MADE_UP_NAMES = 2  # at most, for each name that the table lists
MAX_NUMBER_IN_WORDS = 999
REPEATED_DIGIT_SHARE = 1 / 3  # of the numbers drawn above 99


@dataclass(frozen=True)
class SlotWords:
    """The values that a slot may take between two languages, without those held out for tests.

    Names are those of the table and, so that a model copies names that it has never read, others made up from them.
    `cities`, `weekdays` and `months` are pairs of spellings, one per language. `ambiguous` are first names of both
    genders, which are never replaced; `genders` has "f" or "m" for all others.
    """

    languages: tuple[str, str]
    female: tuple[str, ...]
    male: tuple[str, ...]
    surnames: tuple[str, ...]
    cities: tuple[tuple[str, str], ...]
    weekdays: tuple[tuple[str, str], ...]
    months: tuple[tuple[str, str], ...]
    genders: dict[str, str]
    ambiguous: frozenset[str]
    every_surname: frozenset[str]

    def draw_number(self, rng: random.Random, low: int, high: int, but: Collection[int] = ()) -> int:
        """Return a number from `low` to `high` that is neither held out nor in `but`.

        Above 99, two neighbouring digits are made equal in a third of the draws: "499" is hard to copy.
        """
        held_out = held_out_slots()[1]
        while True:
            number = rng.randint(low, high)
            if number > 99 and rng.random() < REPEATED_DIGIT_SHARE:
                digits = str(number)
                index = rng.randrange(1, len(digits))
                number = int(digits[:index] + digits[index - 1] + digits[index + 1 :])
            if low <= number <= high and number not in held_out and number not in but:
                return number


def read_slot_words(languages: tuple[str, str]) -> SlotWords:
    """Read the slot values for two languages of SLOT_LANGUAGES from names.tsv in the folder of everyday text.

    Raises ValueError where there is no such table, and for other languages.
    """
    if set(languages) - set(SLOT_LANGUAGES) or languages[0] == languages[1]:
        raise ValueError(
            f"Slots are between two of {', '.join(SLOT_LANGUAGES)}, not {short(' and '.join(languages))}; "
            "train with --slots 0."
        )
    path = everyday_folder() / NAMES
    if not path.is_file():
        raise ValueError(
            f"The names for slots are missing: there is no {NAMES} in {short(everyday_folder())}; set "
            "HEADLIGHT_EVERYDAY to the folder that has it, or train with --slots 0."
        )
    table: dict[str, list[dict[str, str]]] = defaultdict(list)
    header, *rows = [line.split("\t") for line in lines(path)]
    for row in rows:
        values = dict(zip(header, row, strict=False))
        table[values.get("kind", "")].append(values)

    def latin(kind: str) -> set[str]:
        spellings = [{values.get(language, "") for language in SLOT_LANGUAGES} for values in table[kind]]
        return {name for (name, *variants) in map(sorted, spellings) if not variants and _NAME.fullmatch(name)}

    def in_both_languages(kind: str) -> tuple[tuple[str, str], ...]:
        pairs = [(values.get(languages[0], ""), values.get(languages[1], "")) for values in table[kind]]
        return tuple(dict.fromkeys(pair for pair in pairs if all(pair)))

    city_rows = [values for values in table["city"] if values.get("en") in WORD_LISTS["city"]]
    cities = dict.fromkeys((values[languages[0]], values[languages[1]]) for values in city_rows)
    cities.update(dict.fromkeys((city, city) for city in WORD_LISTS["same city"]))
    place_words = {
        values.get(language, "")
        for kind in ("city", "country", "continent", "language", "month", "weekday")
        for values in table[kind]
        for language in SLOT_LANGUAGES
    }
    never = place_words.union(WORD_LISTS["never a name"], WORD_LISTS["same city"])
    words = never | frozenset(lines(NOT_NAMES))
    female, male = (latin(kind) - words for kind in ("first name f", "first name m"))
    surnames = {name for name in latin("surname") - never if len(name) > 3}
    if "de" in languages:
        surnames |= german_surnames() - never
    held_out = held_out_slots()[0]
    ambiguous = (female & male).union(WORD_LISTS["unisex"])
    female, male = female - ambiguous, male - ambiguous
    never |= words | held_out | ambiguous
    return SlotWords(
        languages,
        with_made_up_names(female - held_out, never | male),
        with_made_up_names(male - held_out, never | female),
        with_made_up_names(surnames - held_out, never | female | male),
        tuple(cities),
        in_both_languages("weekday"),
        in_both_languages("month"),
        {**dict.fromkeys(female, "f"), **dict.fromkeys(male, "m")},
        frozenset(ambiguous),
        frozenset(surnames),
    )


def german_surnames() -> frozenset[str]:
    """Return surnames made up of two German words, such as "Sommermantel", without three equal letters in a row."""
    names = (
        beginning + ending
        for beginning in WORD_LISTS["surname beginning"]
        for ending in WORD_LISTS["surname ending"]
        if beginning.lower() != ending
    )
    return frozenset(name for name in names if _NAME.fullmatch(name) and not re.search(r"(.)\1\1", name))


def with_made_up_names(names: Collection[str], but: Collection[str]) -> tuple[str, ...]:
    """Return the names and up to MADE_UP_NAMES times as many made up of the beginning of one and the end of another.

    Both are cut after a vowel, as "Sara" and "Monika" give "Sanika". A made-up name has 4 to 12 letters and is
    neither in `names` nor in `but`.
    """
    rng = random.Random("made-up names")
    plain = sorted(names)
    cuts = {name: [match.start() for match in _SYLLABLE.finditer(name)] for name in plain}
    parts = [name for name in plain if cuts[name]]
    made_up: dict[str, None] = {}
    taken = {*names, *but}
    for _ in range(MADE_UP_NAMES * len(plain) if parts else 0):
        first, second = rng.choice(parts), rng.choice(parts)
        name = first[: rng.choice(cuts[first])] + second[rng.choice(cuts[second]) :]
        if len(name) > 3 and _NAME.fullmatch(name) and name not in taken:
            made_up[name] = None
    return (*plain, *made_up)


@cache
def held_out_slots() -> tuple[frozenset[str], frozenset[int]]:
    """Return the names and numbers that are never drawn, so that tools/copying.py can test copying with them."""
    rows = [line.split("\t") for line in lines(HELD_OUT)]
    names = frozenset(value for kind, value in rows if kind == "name")
    return names, frozenset(int(value) for kind, value in rows if kind == "number")


def is_invariable(number: int) -> bool:
    """Return whether a number's words are the same in every context, unlike "vingt et une filles" or "page
    quatre-vingt".
    """
    return not (number % 10 == 1 and number != 11) and number % 100 not in (0, 80)


@cache
def numbers_in_words(language: str) -> dict[str, int]:
    """Return the numbers of 2 to MAX_NUMBER_IN_WORDS by their words; in English with and without "and"."""
    numbers = {in_words(number, language): number for number in range(2, MAX_NUMBER_IN_WORDS + 1)}
    return numbers | {words.replace(" and ", " "): number for words, number in numbers.items() if language == "en"}


@cache
def number_parts(language: str) -> frozenset[str]:
    """Return every word that can be part of a number in words, also of numbers that are never replaced."""
    parts = {part for words in numbers_in_words(language) for part in re.split("[ -]", words)}
    irregular = {
        "en": "one hundred hundreds thousand thousands million millions billion dozen half zero",
        "fr": "un une cent cents mille million millions milliard milliards demi demie zéro vingts",
        "de": "eins ein eine einen einem einer hundert tausend million millionen milliarden halb zwo null",
    }
    return frozenset((parts | set(irregular[language].split())) - {"and", "et", "und"})


_ELIDED = re.compile(r"(?i)(?<!\w)(d|qu|lorsqu|puisqu|quoiqu)['’]$")
_UNELIDED = re.compile(r"(?i)(?<!\w)(de|que|lorsque|puisque|quoique) $")


def may_elide(before: str) -> bool:
    """Return whether the French text before a name ends in "de ", "d'", "que " or such a word."""
    return bool(_ELIDED.search(before) or _UNELIDED.search(before))


def with_elision(before: str, name: str) -> str:
    """Return French text before a name with its last word elided or not, as the name demands: "d'" + "Anna"."""
    if unicodedata.normalize("NFD", name).lower()[:1] in "aeiouœæ":
        return _UNELIDED.sub(lambda match: f"{match[1][:-1]}'", before)
    return _ELIDED.sub(lambda match: f"{match[1]}e ", before)


def is_certain(name: str, before: str, has_genitive: bool, language: str) -> bool:
    """Return whether the elision of the word before a name, and the name's genitive, have only one spelling.

    The elision is uncertain before h and y, and before glides as in "Oui". A plain genitive is written with s alone, in
    English as in German.
    """
    if has_genitive and name.endswith(("s", "ß", "x", "z", "ce")):
        return False
    plain = "".join(c for c in unicodedata.normalize("NFD", name).lower() if not unicodedata.combining(c))
    return language != "fr" or not may_elide(before) or not re.match("[hyø]|[iou][aeiou]", plain)


def genitive(name: str) -> str:
    """Return the German genitive of a name that has a plain one: "Annas"."""
    return f"{name}s"
