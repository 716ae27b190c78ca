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

from headlight.corpora import english
from headlight.corpora.core import german
from headlight.corpora.core.german_clauses import SCHEMES, SUBJECTS, GermanVerbPhrase, make_clause, read_verb_phrase
from headlight.corpora.core.german_numbers import generated_slots
from headlight.corpora.core.templates import Template, read_templates, spread

_FOLDER = Path(__file__).parent / "de-en"
_SLOT = re.compile(r"\[([^\[\]]+)\]")
_NOUN = re.compile(r"(der|die|das) (\S+?)(\*?)(?:, ?(\S.*)?)?")
_GENDERS = {"der": "m", "die": "f", "das": "n"}
_CONTRACTIONS = {
    "in dem": "im", "in das": "ins", "zu dem": "zum", "zu der": "zur", "von dem": "vom", "an dem": "am",
    "an das": "ans", "bei dem": "beim",
}  # fmt: skip
_CONTRACTED = re.compile(rf"\b(?:{'|'.join(_CONTRACTIONS)})\b", re.IGNORECASE)

PAIRS_PER_WORD = 10
PAIRS_PER_TEMPLATE = 20
# Sentences of tests/everyday that the frames would form by chance, as `_folded` writes them.
_LEFT_OUT = frozenset(
    {
        "bistdumude",
        "dreiplusvieristsieben",
        "esisthalbacht",
        "gesternsindwirinskinogegangen",
        "gutenmorgenfraumuller",
        "heuteistmontag",
        "ichkommeausfrankreich",
        "spielstdugerntennis",
        "wiekommeichzumflughafen",
        "ichtrinkelieberteealskaffee",
    }
)


class GermanEntry(NamedTuple):
    """A word of the lexicon. `noun` is None for words that are not declined here, such as adjectives and names."""

    german: str
    english: str
    noun: german.GermanNoun | None = None
    english_plural: str = ""
    article: str = ""  # of countries and rivers; "die+" for a plural


@cache
def _lexicon() -> dict[str, list[GermanEntry]]:
    lexicon: dict[str, list[GermanEntry]] = {}
    entries: list[GermanEntry] = []
    for line in _read("lexicon").splitlines():
        if line.startswith("["):
            category = line.strip("[]")
            entries = lexicon.setdefault(category, [])
        elif line.strip():
            entries.append(_read_entry(line, category))
    for category, pairs in generated_slots().items():
        lexicon[category] = [GermanEntry(source, target) for source, target in pairs]
    return lexicon


class SentenceTemplate(NamedTuple):
    template: Template
    slots: list[str]


@cache
def _frames() -> list[SentenceTemplate]:
    return [SentenceTemplate(template, _slots(template)) for template in read_templates(_read("frames"))]


@cache
def _word_templates() -> list[Template]:
    return read_templates(_read("words"))


@cache
def _verb_phrases() -> list[GermanVerbPhrase]:
    lines = _read("verbs").splitlines()
    return [read_verb_phrase(line) for line in lines if line.strip() and not line.startswith("#")]


def covering() -> Iterator[tuple[str, str]]:
    """Yield distinct pairs in which every word of the lexicon occurs in at least ten, always the same ones."""
    yielded: set[tuple[str, str]] = set()
    for pair in _covering():
        if pair not in yielded and not _is_left_out(pair[0]):
            yielded.add(pair)
            yield pair


def random_pair(rng: random.Random) -> tuple[str, str]:
    """Return a random pair of any of the three sources."""
    while True:
        choice = rng.random()
        if choice < 0.35:
            template = rng.choice(_word_templates())
            source, target = template.fill(rng.randrange(template.n_choices()))
            pair = source, english.fix_articles(target)
        elif choice < 0.7:
            pair = _fill_slots(rng.choice(_frames()), rng)
        else:
            pair = _clause(rng.choice(_verb_phrases()), rng)
        if not _is_left_out(pair[0]):
            return pair


def lexicon_words() -> list[tuple[str, str]]:
    """Return (category, German word) of every entry of the lexicon, without the generated numbers and times."""
    generated = generated_slots()
    return [
        (category, entry.german)
        for category, entries in _lexicon().items()
        if category not in generated
        for entry in entries
    ]


def _covering() -> Iterator[tuple[str, str]]:
    for template in _word_templates():
        for source, target in spread(template, PAIRS_PER_TEMPLATE):
            yield source, english.fix_articles(target)
    by_category: dict[str, list[SentenceTemplate]] = {}
    for frame in _frames():
        for category in sorted({_category(slot) for slot in frame.slots}):
            by_category.setdefault(category, []).append(frame)
    for category, entries in _lexicon().items():
        frames = by_category.get(category, [])
        for entry in entries:
            rng = random.Random(f"{category} {entry.german}")
            distinct: set[tuple[str, str]] = set()
            for number in range(20 * PAIRS_PER_WORD):
                if len(distinct) >= PAIRS_PER_WORD + 2 and number >= len(frames):
                    break
                pair = _fill_slots(frames[number % len(frames)], rng, {category: entry})
                if not _is_left_out(pair[0]):
                    distinct.add(pair)
                    yield pair
    for phrase in _verb_phrases():
        rng = random.Random(phrase.german)
        for scheme in SCHEMES:
            for _ in range(2):
                if clause := make_clause(scheme, rng.choice(SUBJECTS), phrase, rng):
                    yield clause


def _clause(phrase: GermanVerbPhrase, rng: random.Random) -> tuple[str, str]:
    while True:
        if clause := make_clause(rng.choice(SCHEMES), rng.choice(SUBJECTS), phrase, rng):
            return clause


def _fill_slots(
    frame: SentenceTemplate, rng: random.Random, fixed: dict[str, GermanEntry] | None = None
) -> tuple[str, str]:
    """Fill the slots of a frame: those of `fixed` with its entries, the others at random."""
    source, target = frame.template.fill(rng.randrange(frame.template.n_choices()))
    chosen = dict(fixed or {})
    for slot in frame.slots:
        if slot not in chosen:
            candidates = [entry for entry in _lexicon()[_category(slot)] if not _clashes(entry, chosen)]
            chosen[slot] = rng.choice(candidates)
    source = _SLOT.sub(lambda match: _german(match[1], chosen), source)
    source = _CONTRACTED.sub(lambda match: _CONTRACTIONS[match[0].lower()], source)
    target = _SLOT.sub(lambda match: _english(match[1], chosen), target)
    return _capitalized(source), english.fix_articles(_capitalized(target))


def _clashes(entry: GermanEntry, chosen: dict[str, GermanEntry]) -> bool:
    return any(entry.german == other.german or entry.english == other.english for other in chosen.values())


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


def _german(slot: str, chosen: dict[str, GermanEntry]) -> str:
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


def _with_article(entry: GermanEntry, form: str) -> str:
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


def _english(slot: str, chosen: dict[str, GermanEntry]) -> str:
    *words, last = slot.split()
    entry = chosen[last.rstrip("+")]
    noun = entry.english_plural if last.endswith("+") else entry.english
    rest = [chosen[word].english if word in chosen else word for word in words if word != "a"]
    text = " ".join([*rest, noun])
    return f"{english.article(text)} {text}" if words[:1] == ["a"] else text


def _read_entry(line: str, category: str) -> GermanEntry:
    source, target, *plural = (part.strip() for part in line.split("|"))
    match = _NOUN.fullmatch(source)
    if category in ("country", "river") and " " in source:
        article, name = source.split(maxsplit=1)
        return GermanEntry(name.rstrip("+"), target, article=article + "+" * name.endswith("+"))
    if match is None:
        return GermanEntry(source, target)
    noun = german.GermanNoun(_GENDERS[match[1]], match[2], match[4] or "", bool(match[3]))
    return GermanEntry(match[2], target, noun, plural[0] if plural else english.pluralize(target))


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
