"""German-English sentence pairs of the core vocabulary.

Three sources make them: sentences written by hand around words that no general frame fits (words.txt), frames whose
slots are filled from a lexicon (frames.txt, lexicon.txt), and verb phrases put into tenses, moods and clauses
(verbs.txt).
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from transformer.data.core import english, german
from transformer.data.core.german_clauses import SCHEMES, SUBJECTS, VerbPhrase, read_verb_phrase
from transformer.data.core.german_numbers import generated_slots
from transformer.data.core.templates import Template, read_templates, spread

_FOLDER = Path(__file__).parent / "de-en"
_SLOT = re.compile(r"\[([^\[\]]+)\]")
_NOUN = re.compile(r"(der|die|das) (\S+?)(\*?)(?:, ?(\S.*)?)?")
_GENDERS = {"der": "m", "die": "f", "das": "n"}
_POSSESSIVES = {"mein": "my", "dein": "your", "sein": "his", "ihr": "her", "unser": "our", "euer": "your"}

PAIRS_PER_WORD = 10
PAIRS_PER_TEMPLATE = 20
# Test sentences that frames would form by chance; as `_folded` writes them.
_LEFT_OUT: frozenset[str] = frozenset(
    {
        "ichkommeausfrankreich",
        "heuteistmontag",
        "esisthalbacht",
        "heuteisteskalt",
        "drittepluvierissieben",
        "dreiplusvieristsieben",
        "magstdumusik",
        "hallowiegehtesdir",
        "ichwarteschonseiteinerstunde",
        "wiespatistes",
        "meinvateristzweiundvierzigjahrealt",
        "inmeinerklassesindfunfundzwanzigschuler",
        "sprechensieenglisch",
        "erhatkeinauto",
        "icherufedichmorgenan",
    }
)


class Entry(NamedTuple):
    """A word of the lexicon. `noun` is None for words that are not declined here, such as adjectives and names."""

    german: str
    english: str
    noun: german.Noun | None = None
    english_plural: str = ""
    article: str = ""  # of countries and rivers; "die+" for a plural


@cache
def _lexicon() -> dict[str, list[Entry]]:
    lexicon: dict[str, list[Entry]] = {}
    entries: list[Entry] = []
    for line in _read("lexicon").splitlines():
        if line.startswith("["):
            category = line.strip("[]")
            entries = lexicon.setdefault(category, [])
        elif line.strip():
            entries.append(_read_entry(line, category))
    for category, pairs in generated_slots().items():
        lexicon[category] = [Entry(source, target) for source, target in pairs]
    return lexicon


@cache
def _frames() -> list[Template]:
    return read_templates(_read("frames"))


@cache
def _word_templates() -> list[Template]:
    return read_templates(_read("words"))


@cache
def _verb_phrases() -> list[VerbPhrase]:
    lines = _read("verbs").splitlines()
    return [read_verb_phrase(line) for line in lines if line.strip() and not line.startswith("#")]


def covering() -> Iterator[tuple[str, str]]:
    """Yield distinct pairs in which every word of the lexicon occurs in at least ten, always the same ones."""
    given: set[tuple[str, str]] = set()
    for pair in _covering():
        if pair not in given and not _is_left_out(pair[0]):
            given.add(pair)
            yield pair


def random_pair(rng: random.Random) -> tuple[str, str]:
    """Return a random pair of any of the three sources."""
    while True:
        choice = rng.random()
        if choice < 0.35:
            template = rng.choice(_word_templates())
            pair = template.fill(rng.randrange(template.count()))
        elif choice < 0.7:
            template = rng.choice(_frames())
            pair = _fill_slots(template, rng)
        else:
            pair = _clause(rng.choice(_verb_phrases()), rng)
        if not _is_left_out(pair[0]):
            return pair


def lexicon_words() -> list[tuple[str, str]]:
    """Return (category, German word) of every entry of the lexicon, generated numbers and times among them."""
    return [(category, entry.german) for category, entries in _lexicon().items() for entry in entries]


def _covering() -> Iterator[tuple[str, str]]:
    for template in _word_templates():
        yield from spread(template, PAIRS_PER_TEMPLATE)
    by_category: dict[str, list[Template]] = {}
    for template in _frames():
        for category in {_category(slot) for slot in _slots(template)}:
            by_category.setdefault(category, []).append(template)
    for category, entries in _lexicon().items():
        templates = by_category.get(category, [])
        for entry in entries:
            rng = random.Random(f"{category} {entry.german}")
            distinct: set[tuple[str, str]] = set()
            for number in range(20 * PAIRS_PER_WORD):
                if len(distinct) >= PAIRS_PER_WORD + 2 and number >= len(templates):
                    break
                pair = _fill_slots(templates[number % len(templates)], rng, category, entry)
                if not _is_left_out(pair[0]):
                    distinct.add(pair)
                    yield pair
    for phrase in _verb_phrases():
        rng = random.Random(phrase.german)
        for scheme in SCHEMES:
            for _ in range(2):
                if pair := scheme(rng.choice(SUBJECTS), phrase, rng):
                    yield pair


def _clause(phrase: VerbPhrase, rng: random.Random) -> tuple[str, str]:
    while True:
        if pair := rng.choice(SCHEMES)(rng.choice(SUBJECTS), phrase, rng):
            return pair


def _fill_slots(
    template: Template, rng: random.Random, category: str = "", entry: Entry | None = None
) -> tuple[str, str]:
    """Fill the slots of a template with random entries, and those of `category` with `entry`."""
    source, target = template.fill(rng.randrange(template.count()))
    chosen: dict[str, Entry] = {}
    for slot in _slots(template):
        if slot not in chosen:
            if entry and slot == category:
                chosen[slot] = entry
            else:
                taken = [*chosen.values(), *([entry] if entry else [])]
                others = [other for other in _lexicon()[_category(slot)] if not _clash(other, taken)]
                chosen[slot] = rng.choice(others)
    if entry and category not in chosen:
        raise ValueError(f"The template {source!r} has no slot {category!r}.")
    source = _SLOT.sub(lambda match: _german(match[1], chosen), source)
    target = _SLOT.sub(lambda match: _english(match[1], chosen), target)
    return _capitalized(source), _capitalized(target)


def _clash(first: Entry, taken: list[Entry]) -> bool:
    return any(first.german == other.german or first.english == other.english for other in taken)


def _slots(template: Template) -> list[str]:
    """Return the names of the slots of a template's source."""
    text = template.fill(0)[0]
    names = []
    for match in _SLOT.finditer(text):
        for word in match[1].split():
            name = word.partition(":")[0].rstrip("+")
            if _category(name) in _lexicon():
                names.append(name)
    return names


def _category(slot: str) -> str:
    return slot.rstrip("0123456789")


def _german(slot: str, chosen: dict[str, Entry]) -> str:
    words = slot.split()
    name, _, form = words[-1].partition(":")
    entry = chosen[name.rstrip("+")]
    if len(words) == 1:
        return _with_article(entry, form) if form or entry.article else entry.german
    cases = {"nom": 0, "acc": 1, "dat": 2, "gen": 3}
    determiner, case = ("", cases[words[0]]) if words[0] in cases else german.read_determiner(words[0].lower())
    adjectives = [chosen[word].german for word in words[1:-1]]
    if entry.noun is None:
        raise ValueError(f"[{slot}] needs a noun, and {entry.german!r} is none.")
    text = german.decline(determiner, adjectives, entry.noun, case, name.endswith("+"))
    return text[0].upper() + text[1:] if words[0][0].isupper() else text


def _with_article(entry: Entry, form: str) -> str:
    """Return a country or river with its article: nach Polen, in die Schweiz, (aus) der Schweiz."""
    gender = "p" if entry.article.endswith("+") else _GENDERS.get(entry.article, "")
    articles = {"m": ("der", "den", "dem"), "f": ("die", "die", "der"), "n": ("das", "das", "dem")}
    articles["p"] = ("die", "die", "den")
    if not gender:
        return f"nach {entry.german}" if form == "nach" else entry.german
    nominative, accusative, dative = articles[gender]
    if form == "nach":
        return f"in {accusative} {entry.german}"
    return f"{ {'': nominative, 'acc': accusative, 'dat': dative}[form] } {entry.german}"


def _english(slot: str, chosen: dict[str, Entry]) -> str:
    *words, last = slot.split()
    entry = chosen[last.rstrip("+")]
    noun = entry.english_plural if last.endswith("+") else entry.english
    rest = [chosen[word].english if word in chosen else word for word in words if word != "a"]
    text = " ".join([*rest, noun])
    return f"{english.article(text)} {text}" if words[:1] == ["a"] else text


def _read_entry(line: str, category: str) -> Entry:
    source, target, *plural = (part.strip() for part in line.split("|"))
    match = _NOUN.fullmatch(source)
    if category in ("country", "river") and " " in source:
        article, name = source.split(maxsplit=1)
        return Entry(name.rstrip("+"), target, article=article + "+" * name.endswith("+"))
    if match is None:
        return Entry(source, target)
    noun = german.Noun(_GENDERS[match[1]], match[2], match[4] or "", bool(match[3]))
    return Entry(match[2], target, noun, plural[0] if plural else english.pluralize(target))


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_left_out(source: str) -> bool:
    return _folded(source) in _LEFT_OUT


def _folded(text: str) -> str:
    """Return the letters and digits of a text in lower case and without accents."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in decomposed if character.isalnum())


def _read(name: str) -> str:
    return (_FOLDER / f"{name}.txt").read_text(encoding="utf-8")
