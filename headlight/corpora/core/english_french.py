"""English-French sentence pairs of the core vocabulary.

A slot of a frame names categories of the lexicon: "[a color animal]" = "[un color animal]". On the French side a slot
may begin with a preposition, a determiner in the masculine singular agrees with the noun, "animal+" is the plural, and
"[animal:color]" is the adjective alone, agreeing with the noun. Contraction and elision follow in `spell`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.core.french_clauses import SCHEMES, SUBJECTS, FrenchVerbPhrase, make_clause, read_verb_phrase
from headlight.corpora.core.french_numbers import generated_slots
from headlight.corpora.core.templates import SentencePair
from headlight.corpora.core.vocabulary import SLOT, CoreVocabulary, category
from headlight.corpora.grammars.english_french import french

_NOUN = re.compile(r"(.+?) (mp|fp|m|f|-)(?:, ?(.+))?")

_ELISION = re.compile(
    rf"(?<![\w'-])(je|me|te|se|le|la|de|ne|que|jusque|lorsque|puisque) (?=[{french.VOWELS}])", re.IGNORECASE
)
# A determiner from a slot is marked with "§", so that only it is contracted, and not the pronoun in "de le voir".
_CONTRACTION = re.compile(rf"\b(à|de) §(le(?= [^{french.VOWELS}])|les)\b", re.IGNORECASE)


class FrenchEntry(NamedTuple):
    """A word of the lexicon. `gender` is "m", "f", "mp" or "fp" (always plural), "-" (no article) or "" (no noun)."""

    english: str
    french: str
    gender: str = ""
    plural: str = ""
    columns: tuple[str, ...] = ()


class _Form(NamedTuple):
    """The gender and number in which a word agrees."""

    is_feminine: bool
    is_plural: bool


def _read_entry(line: str, name: str) -> FrenchEntry:
    source, target, *columns = (part.strip() for part in line.split("|"))
    if match := _NOUN.fullmatch(target):
        return FrenchEntry(source, match[1], match[2], match[3] or "")
    return FrenchEntry(source, target, columns=tuple(columns))


def _random_clause(phrases: Sequence[FrenchVerbPhrase], rng: random.Random) -> SentencePair:
    while True:
        if pair := make_clause(rng.choice(SCHEMES), rng.choice(SUBJECTS), rng.choice(phrases), rng):
            return _spelled(pair)


def _clauses(phrase: FrenchVerbPhrase) -> Iterator[SentencePair]:
    rng = random.Random(phrase.french)
    for scheme in SCHEMES:
        if clause := make_clause(scheme, rng.choice(SUBJECTS), phrase, rng):
            yield _spelled(clause)


def _fill(source: str, target: str, chosen: dict[str, FrenchEntry]) -> SentencePair:
    source = SLOT.sub(lambda match: _english_slot(match[1], chosen), source)
    target = SLOT.sub(lambda match: _french_slot(match[1], chosen), target)
    return _spelled((english.fix_articles(source), target))


def _english_slot(slot: str, chosen: dict[str, FrenchEntry]) -> str:
    words = []
    for word in slot.split():
        entry = chosen.get(word.rstrip("+"))
        words.append(word if entry is None else english.pluralize(entry.english) if word[-1] == "+" else entry.english)
    return " ".join(words)


def _french_slot(slot: str, chosen: dict[str, FrenchEntry]) -> str:
    """Render a French slot such as "de le color animal+" or "animal:color"."""
    head, colon, adjective = slot.partition(":")
    if colon and adjective == "en":
        return chosen[head].columns[0]
    if colon:
        return _agreeing(adjective, _form(head, chosen), chosen)
    *words, noun = slot.split()
    entry = chosen.get(noun.rstrip("+"))
    if entry is None:
        raise ValueError(f"The source has no slot {noun!r}, which [{slot}] names.")
    if not entry.gender:
        return " ".join([*words, _agreeing(noun, _Form(False, False), chosen)])
    if words == ["en"]:
        return _in_country(entry)
    form = _form(noun, chosen)
    before: list[str] = []
    after: list[str] = []
    determiners: list[str] = []
    for word in words:
        if word in chosen:
            text = _agreeing(word, form, chosen)
            (before if chosen[word].french.startswith("<") else after).append(text)
        else:
            determiners.append(word)
    phrase = " ".join([*before, _noun_text(entry, form), *after])
    if before and not form.is_plural and not form.is_feminine:
        phrase = _before_vowel_adjective(chosen, words, entry, phrase)
    if category(noun) == "country" and determiners == ["de"] and _has_article_after_de(entry):
        determiners.append("le")
    return " ".join([*_determined(determiners, phrase, form, bool(before), entry), phrase])


def _determined(
    determiners: list[str], phrase: str, form: _Form, adjective_first: bool, entry: FrenchEntry
) -> list[str]:
    words = []
    for word in determiners:
        if word == "le" and entry.gender == "-":
            continue
        if word == "du":
            words += ["des"] if form.is_plural else ["de", "§la" if form.is_feminine else "§le"]
        elif word == "un" and form.is_plural and adjective_first:
            words.append("de")
        elif word in french.DETERMINERS:
            words.append("§" * (word == "le") + french.determiner(word, form.is_feminine, form.is_plural, phrase))
        else:
            words.append(word)
    return words


def _before_vowel_adjective(chosen: dict[str, FrenchEntry], words: list[str], entry: FrenchEntry, phrase: str) -> str:
    """Write "un vieil homme" for "un vieux homme"."""
    if not french.begins_with_vowel(entry.french):
        return phrase
    for word in words:
        if word in chosen and len(forms := chosen[word].french.lstrip("<").split()) == 3:
            phrase = phrase.replace(f"{forms[0]} ", f"{forms[2]} ", 1)
    return phrase


def _form(head: str, chosen: dict[str, FrenchEntry]) -> _Form:
    """Return the form of a slot, or of "m", "f", "mp" and "fp" themselves."""
    entry = chosen.get(head.rstrip("+"))
    gender = (
        head if entry is None else "f" if category(head) == "girl" else "m" if category(head) == "boy" else entry.gender
    )
    return _Form(gender.startswith("f"), head.endswith("+") or gender.endswith("p"))


def _agreeing(word: str, form: _Form, chosen: dict[str, FrenchEntry]) -> str:
    """Return an adjective, a profession or another word of the lexicon in a form; invariable words are unchanged."""
    entry = chosen.get(word)
    text = word if entry is None else entry.french.lstrip("<")
    if entry is not None and entry.columns:  # a profession
        text = entry.columns[0] if form.is_feminine else text
        return french.plural(text) if form.is_plural else text
    if text.endswith("="):
        return text[:-1]
    degree = ""
    if match := re.match(r"(plus|moins) ", text):
        degree, text = match[0], text[match.end() :]
    *forms, last = text.split()
    masculine = forms[0] if forms else last
    if not (form.is_feminine or form.is_plural):
        is_adjective = entry is None or category(word) in _ADJECTIVES
        return degree + (masculine if is_adjective else text)
    feminine = forms[1] if len(forms) > 1 else last if forms else french.feminine(masculine)
    form_text = feminine if form.is_feminine else masculine
    return degree + (french.plural(form_text) if form.is_plural else form_text)


_ADJECTIVES = frozenset(("color", "coat", "size", "quality", "more", "feeling", "trait", "taller", "nation"))


def _noun_text(entry: FrenchEntry, form: _Form) -> str:
    if not form.is_plural or entry.gender.endswith("p"):
        return entry.french
    return entry.plural or french.plural(entry.french)


def _has_article_after_de(country: FrenchEntry) -> bool:
    """Return whether a country keeps its article after "de": "du Japon", "des États-Unis"; "de France" has none."""
    return country.gender.endswith("p") or (country.gender == "m" and not french.begins_with_vowel(country.french))


def _in_country(entry: FrenchEntry) -> str:
    """Write "en France", "au Japon", "aux États-Unis", "en Israël", "à Cuba"."""
    if entry.gender == "-":
        return f"{'en' if french.begins_with_vowel(entry.french) else 'à'} {entry.french}"
    if entry.gender.endswith("p"):
        return f"aux {entry.french}"
    return f"{'en' if entry.gender == 'f' or french.begins_with_vowel(entry.french) else 'au'} {entry.french}"


def spell(text: str) -> str:
    """Apply contraction and elision, remove the marks, and capitalise the text unless it starts with "~"."""
    text = _CONTRACTION.sub(_contract, text)
    text = text.replace("§", "")
    text = _ELISION.sub(lambda match: f"{match[1][:-1]}'", text)
    return _capitalized(text.replace("*", ""))


def _contract(match: re.Match[str]) -> str:
    form = french.CONTRACTIONS[match[0].replace("§", "").lower()]
    return _capitalized(form) if match[0][0].isupper() else form


def _spelled(pair: SentencePair) -> SentencePair:
    return _capitalized(pair[0]), spell(pair[1])


def _capitalized(text: str) -> str:
    return text[1:] if text.startswith("~") else text[:1].upper() + text[1:]


VOCABULARY = CoreVocabulary(
    folder="en-fr",
    entry=FrenchEntry,
    read_entry=_read_entry,
    generated=generated_slots(),
    covers_generated=False,
    fill=_fill,
    read_verb_phrase=read_verb_phrase,
    clauses=_clauses,
    random_clause=_random_clause,
    spelled=_spelled,
    counts_left_out=True,
    shares=(0.1, 0.55),
    pairs_per_template=24,
)
