"""The parts of English and French sentences: noun phrases, pronouns, places, times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.gold import AlignedPhrase, GoldPair, GoldWord, gold_pair
from headlight.corpora.grammars.english_french import french
from headlight.corpora.grammars.english_french.french import IL, ILS, JE, NOUS, VOUS, Gender, begins_with_vowel
from headlight.corpora.grammars.english_french.lexicon import FrenchNoun, Quality


@dataclass
class Bilingual:
    """A piece of a sentence in both languages."""

    english: list[GoldWord] = field(default_factory=list)
    french: list[GoldWord] = field(default_factory=list)
    combinations: set[str] = field(default_factory=set)

    def __add__(self, other: "Bilingual") -> "Bilingual":
        combinations = self.combinations | other.combinations
        return Bilingual(self.english + other.english, self.french + other.french, combinations)


@dataclass
class FrenchPhrase(Bilingual):
    """A noun phrase with the features that verbs and adjectives agree with."""

    person: int = IL
    gender: Gender = "m"
    is_plural: bool = False
    noun: FrenchNoun | None = None
    head: GoldWord | None = None  # the noun in English


def word_for_word(english_text: str, french_text: str) -> Bilingual:
    """Align two texts word for word."""
    word = GoldWord(english_text)
    return Bilingual([word], [GoldWord(french_text, (word,))])


def aligned(phrase: AlignedPhrase) -> Bilingual:
    return Bilingual(*phrase.words())


class FrenchDeterminer(NamedTuple):
    singular: str
    plural: str
    french: str  # see `french.determiner`


THE, A = FrenchDeterminer("the", "the", "le"), FrenchDeterminer("a", "some", "un")
THIS = FrenchDeterminer("this", "these", "ce")
_POSSESSIVES = {"my": "mon", "your": "votre", "his": "son", "her": "son", "our": "notre", "their": "leur"}
POSSESSIVES = tuple(FrenchDeterminer(english, english, base) for english, base in _POSSESSIVES.items())
_NUMBERS = {"two": "deux", "three": "trois", "four": "quatre"}  # they have no singular
NUMBERS = tuple(FrenchDeterminer(number, number, nombre) for number, nombre in _NUMBERS.items())


def agreeing(quality: Quality, gender: Gender, is_plural: bool) -> str:
    """Return the form of an adjective, such as "grandes"; qualities that are not adjectives have only one form."""
    if quality.takes_avoir or " " in quality.masculine:
        return quality.masculine
    form = quality.masculine if gender == "m" else quality.feminine
    return french.plural(form) if is_plural else form


def noun_phrase(
    noun: FrenchNoun,
    determiner: FrenchDeterminer = THE,
    is_plural: bool = False,
    qualities: Sequence[Quality] = (),
    negated: bool = False,
) -> FrenchPhrase:
    """Return a noun with its determiner, and adjectives that French writes before and after it.

    `negated` is for the object of a negated verb, where "a" is "de": "doesn't eat any bread", "pas de pain".
    """
    head = GoldWord(noun.english_plural if is_plural else noun.english)
    adjectives = [(quality, GoldWord(quality.english)) for quality in qualities]
    nominal = GoldWord(noun.french_plural if is_plural else noun.french, (head,))
    before, after = [], []
    for quality, word in adjectives:
        text = agreeing(quality, noun.gender, is_plural)
        if quality.position == "before":
            if noun.gender == "m" and not is_plural and begins_with_vowel(nominal.text):
                text = quality.before_vowel
            before.append(GoldWord(text, (word,)))
        else:
            after.append(GoldWord(text, (word,)))

    source = [*(word for _, word in sorted(adjectives, key=lambda adjective: adjective[0].english_place)), head]
    target = [*before, nominal, *after]
    first = GoldWord(determiner.plural if is_plural else determiner.singular)
    french_article = french.determiner(determiner.french, noun.gender == "f", is_plural, target[0].text)
    article = [GoldWord(french_article, (first,))]
    if determiner is A:
        partitive = not is_plural and "mass" in noun.kinds
        first.text = "some" if is_plural or partitive else english.article(source[0].text)
        if negated:
            first.text = first.text.replace("some", "any")
        if negated or (is_plural and before):  # "de grands chiens"
            article = [GoldWord("de", (first,))]
        elif partitive:  # "du pain", "de la soupe"
            article = [GoldWord("de", (first,)), GoldWord("le" if noun.gender == "m" else "la", (first,))]

    combinations = {f"noun+adjective: {noun.english}+{quality.english}" for quality in qualities}
    person = ILS if is_plural else IL
    return FrenchPhrase([first, *source], [*article, *target], combinations, person, noun.gender, is_plural, noun, head)


def name_phrase(name: str, gender: Gender) -> FrenchPhrase:
    word = GoldWord(name)
    return FrenchPhrase([word], [GoldWord(name, (word,))], gender=gender, head=word)


# (English, French, person, gender). English does not show the gender of "I", "we" and "you": nothing may agree with it.
SUBJECTS: tuple[tuple[str, str, int, Gender], ...] = (
    ("I", "je", JE, "m"),
    ("he", "il", IL, "m"),
    ("she", "elle", IL, "f"),
    ("we", "nous", NOUS, "m"),
    ("you", "vous", VOUS, "m"),
)


def pronoun_phrase(
    english_text: str, french_text: str, person: int, gender: Gender, is_plural: bool = False
) -> FrenchPhrase:
    word = GoldWord(english_text)
    french_word = GoldWord(french_text, (word,))
    return FrenchPhrase([word], [french_word], person=person, gender=gender, is_plural=is_plural)


def pronoun_for(phrase: FrenchPhrase) -> FrenchPhrase:
    """Return the subject pronoun that stands for a noun: "it", "il"."""
    text = ("il" if phrase.gender == "m" else "elle") + "s" * phrase.is_plural
    english_text = _english_pronoun(phrase, "it", "he", "she", "they")
    return pronoun_phrase(english_text, text, phrase.person, phrase.gender, phrase.is_plural)


def object_pronoun_for(phrase: FrenchPhrase) -> FrenchPhrase:
    """Return the object pronoun that stands for a noun: "it", "le"."""
    text = "les" if phrase.is_plural else "le" if phrase.gender == "m" else "la"
    english_text = _english_pronoun(phrase, "it", "him", "her", "them")
    return pronoun_phrase(english_text, text, phrase.person, phrase.gender, phrase.is_plural)


def _english_pronoun(phrase: FrenchPhrase, neuter: str, masculine: str, feminine: str, plural: str) -> str:
    if phrase.is_plural:
        return plural
    if phrase.noun is not None and not phrase.noun.is_person:
        return neuter
    return masculine if phrase.gender == "m" else feminine


def comma() -> Bilingual:
    mark = GoldWord(",", glued=True)
    return Bilingual([mark], [GoldWord(",", (mark,), glued=True)])


# Their gender is open in English, so that French shows the antecedent; "he" and "her" show it themselves.
_GENDERLESS_PRONOUNS = ("it", "they", "them")


def sentence(text: Bilingual, end: str = ".", pronouns: Iterable[tuple[GoldWord, GoldWord, GoldWord]] = ()) -> GoldPair:
    """Build a pair; `pronouns` are (pronoun, antecedent, French word that has the antecedent's gender)."""
    mark = GoldWord(end, glued=True)
    # French has a space before a question mark: a plain one, since tokenizers read every space as that.
    target = [*text.french, GoldWord(end, (mark,), glued=end == ".")]
    resolvable = [(*each, each[0].text in _GENDERLESS_PRONOUNS) for each in pronouns]
    return gold_pair([*text.english, mark], french.spell(target), resolvable, text.combinations)
