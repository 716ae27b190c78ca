"""German-English sentence pairs of the core vocabulary."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.core import german
from headlight.corpora.core.german_clauses import SCHEMES, SUBJECTS, GermanVerbPhrase, make_clause, read_verb_phrase
from headlight.corpora.core.german_numbers import generated_slots
from headlight.corpora.core.templates import SentencePair
from headlight.corpora.core.vocabulary import SLOT, CoreVocabulary

_NOUN = re.compile(r"(der|die|das) (\S+?)(\*?)(?:, ?(\S.*)?)?")
_GENDERS = {"der": "m", "die": "f", "das": "n"}
_CONTRACTIONS = {
    "in dem": "im", "in das": "ins", "zu dem": "zum", "zu der": "zur", "von dem": "vom", "an dem": "am",
    "an das": "ans", "bei dem": "beim",
}  # fmt: skip
_CONTRACTION_PATTERN = re.compile(rf"\b(?:{'|'.join(_CONTRACTIONS)})\b", re.IGNORECASE)


class GermanEntry(NamedTuple):
    """A word of the lexicon. `noun` is None for words that are not declined here, such as adjectives and names."""

    german: str
    english: str
    noun: german.GermanNoun | None = None
    english_plural: str = ""
    article: str = ""  # of countries and rivers; "die+" for a plural


def _random_clause(phrases: Sequence[GermanVerbPhrase], rng: random.Random) -> SentencePair:
    phrase = rng.choice(phrases)
    while True:
        if clause := make_clause(rng.choice(SCHEMES), rng.choice(SUBJECTS), phrase, rng):
            return clause


def _clauses(phrase: GermanVerbPhrase) -> Iterator[SentencePair | None]:
    rng = random.Random(phrase.german)
    for scheme in SCHEMES:
        yield make_clause(scheme, rng.choice(SUBJECTS), phrase, rng)


def _fill(source: str, target: str, chosen: dict[str, GermanEntry]) -> SentencePair:
    source = SLOT.sub(lambda match: _german(match[1], chosen), source)
    source = _CONTRACTION_PATTERN.sub(lambda match: _CONTRACTIONS[match[0].lower()], source)
    target = SLOT.sub(lambda match: _english(match[1], chosen), target)
    return _capitalized(source), english.fix_articles(_capitalized(target))


def _german(slot: str, chosen: dict[str, GermanEntry]) -> str:
    words = slot.split()
    name, _, form = words[-1].partition(":")
    entry = chosen[name.rstrip("+")]
    if len(words) == 1:
        return _with_article(entry, form) if form or entry.article else entry.german
    cases = {"nom": 0, "acc": 1, "dat": 2, "gen": 3}
    determiner, case = ("", cases[words[0]]) if words[0] in cases else german.DETERMINERS[words[0].lower()]
    adjectives = [chosen[word].german for word in words[1:-1]]
    if entry.noun is None:
        raise ValueError(f"[{slot}] needs a noun, and {entry.german!r} is not one.")
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
    modifiers = [chosen[word].english if word in chosen else word for word in words if word != "a"]
    text = " ".join([*modifiers, noun])
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


VOCABULARY = CoreVocabulary(
    folder="de-en",
    entry=GermanEntry,
    read_entry=_read_entry,
    generated=generated_slots(),
    covers_generated=True,
    fill=_fill,
    read_verb_phrase=read_verb_phrase,
    clauses=_clauses,
    random_clause=_random_clause,
    spelled=lambda pair: (pair[0], english.fix_articles(pair[1])),
    counts_left_out=False,
    shares=(0.35, 0.7),
    pairs_per_template=20,
)
