"""Random choices of words that go together."""

import random
from functools import cache

from headlight.corpora.grammars.english_french.french import IL, Gender, Tense
from headlight.corpora.grammars.english_french.lexicon import (
    ADVERBS,
    CITIES,
    NAMES,
    NOUNS,
    PLACES,
    QUALITIES,
    TIMES,
    FrenchNoun,
    FrenchVerb,
    Place,
    Position,
    Quality,
    Time,
)
from headlight.corpora.grammars.english_french.phrases import (
    NUMBERS,
    POSSESSIVES,
    SUBJECTS,
    THE,
    THIS,
    A,
    Bilingual,
    FrenchDeterminer,
    FrenchPhrase,
    aligned,
    comma,
    name_phrase,
    noun_phrase,
    pronoun_phrase,
    word_for_word,
)


@cache
def nouns(kinds: str, quality: Quality | None = None, gender: Gender | None = None) -> tuple[FrenchNoun, ...]:
    """Return the nouns of any of these kinds that the quality fits and that have the gender."""
    kind_names = set(kinds.split())
    return tuple(
        noun
        for noun in NOUNS
        if not noun.kinds.isdisjoint(kind_names)
        and (quality is None or quality.fits(noun))
        and (gender is None or noun.gender == gender)
    )


@cache
def _fitting(noun: FrenchNoun, position: Position) -> tuple[Quality, ...]:
    return tuple(quality for quality in QUALITIES.values() if quality.position == position and quality.fits(noun))


@cache
def _neutral(noun: FrenchNoun) -> tuple[Quality, ...]:
    return tuple(quality for quality in QUALITIES.values() if quality.is_neutral and quality.fits(noun))


def countable(noun: FrenchNoun) -> bool:
    return noun.kinds.isdisjoint(("mass", "single"))


def plural(rng: random.Random, noun: FrenchNoun, share: float = 0.25) -> bool:
    return countable(noun) and rng.random() < share


def adjectives(rng: random.Random, noun: FrenchNoun) -> list[Quality]:
    """Choose adjectives for a noun: at most one that French writes before it, and one after it."""
    positions: tuple[Position, ...] = ("before", "after")
    groups = [_fitting(noun, position) for position in positions]
    return [rng.choice(group) for group in groups if group and rng.random() < 0.25]


def neutral_adjectives(rng: random.Random, noun: FrenchNoun) -> list[Quality]:
    """Choose at most one adjective among those that cannot be a reason."""
    fitting = _neutral(noun)
    return [rng.choice(fitting)] if fitting and rng.random() < 0.2 else []


def definite(rng: random.Random, noun: FrenchNoun) -> FrenchDeterminer:
    chance = rng.random()
    if "family" in noun.kinds:
        return rng.choice(POSSESSIVES) if chance < 0.7 else THE
    if chance < 0.2 and "wild" not in noun.kinds:
        return rng.choice(POSSESSIVES)
    return THIS if chance > 0.85 else THE


def determiner(rng: random.Random, noun: FrenchNoun, is_plural: bool) -> FrenchDeterminer:
    if "family" in noun.kinds:
        return definite(rng, noun)
    if rng.random() < 0.3:
        return A
    if is_plural and rng.random() < 0.2:
        return rng.choice(NUMBERS)
    return definite(rng, noun)


def some(rng: random.Random, kinds: str, negated: bool = False) -> FrenchPhrase:
    """Choose a noun phrase of these kinds; `negated` is for the object of a negated verb."""
    noun = rng.choice(nouns(kinds))
    is_plural = plural(rng, noun)
    return noun_phrase(noun, determiner(rng, noun, is_plural), is_plural, adjectives(rng, noun), negated)


def known(rng: random.Random, kinds: str, plurals: float = 0.25) -> FrenchPhrase:
    """Choose a noun phrase with "the", "this" or "my"."""
    noun = rng.choice(nouns(kinds))
    return noun_phrase(noun, definite(rng, noun), plural(rng, noun, plurals), adjectives(rng, noun))


def subject(rng: random.Random, kinds: str, agreeing: bool = False) -> FrenchPhrase:
    """Choose a subject. `agreeing` is for verbs that agree with it in gender, which "I", "we" and "you" do not show."""
    chance = rng.random()
    if "person" in kinds.split():
        if chance < 0.35:
            return pronoun_phrase(*rng.choice([entry for entry in SUBJECTS if entry[2] == IL or not agreeing]))
        if chance < 0.5:
            return name_phrase(*rng.choice(NAMES))
    return some(rng, kinds)


def tense(rng: random.Random) -> Tense:
    tenses: tuple[Tense, ...] = ("past", "present", "future")
    return rng.choices(tenses, (5, 3, 2))[0]


def unmistakable(verb: FrenchVerb, tense: Tense) -> Tense:
    """Return another tense where the form is ambiguous: "I read the book" is both present and past."""
    return "future" if verb.past == verb.english else tense


def timed(
    rng: random.Random, text: Bilingual, tense: Tense, times: tuple[Time, ...] = TIMES, first: bool = True
) -> Bilingual:
    """Add a time at the end, at the beginning if it may come `first`, or none."""
    chance = rng.random()
    if chance > 0.3:
        return text
    time = aligned(rng.choice([time for time in times if tense in time.tenses]).phrase)
    return time + comma() + text if first and chance < 0.15 else text + time


def adverb(rng: random.Random, negative: bool = False) -> Bilingual:
    """Choose an adverb; "sometimes" is not used in a negation."""
    return word_for_word(*rng.choice(ADVERBS[:2] if negative else ADVERBS))


def place(rng: random.Random) -> Bilingual:
    """Choose a place: "in the garden", "near the church", "in Paris"."""
    if rng.random() < 0.15:
        return word_for_word("in", "à") + word_for_word(*rng.choice(CITIES))
    return at(rng, rng.choice(PLACES))


def at(rng: random.Random, place: Place) -> Bilingual:
    if place.preposition.source == "at":  # "au musée", but "dans ce musée"
        return aligned(place.preposition) + noun_phrase(rng.choice(nouns(place.kinds)))
    return aligned(place.preposition) + known(rng, place.kinds, plurals=0)


def destination(rng: random.Random) -> Bilingual:
    to = word_for_word("to", "à")
    return to + (word_for_word(*rng.choice(CITIES)) if rng.random() < 0.3 else known(rng, "venue", plurals=0))
