"""Random choices of nouns, determiners, adjectives, places and times that go together."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from headlight.corpora.gold import AlignedPhrase, GoldWord
from headlight.corpora.grammars.english_hindi.clauses import Clause, Mood, Tense
from headlight.corpora.grammars.english_hindi.lexicon import (
    ADJECTIVES,
    CITIES,
    MEN_NAMES,
    NUMBERS,
    WOMEN_NAMES,
    Adjective,
    HindiNoun,
    nouns,
)
from headlight.corpora.grammars.english_hindi.phrases import (
    PEOPLE,
    BilingualText,
    HindiDeterminer,
    HindiPhrase,
    coordinated,
    noun_phrase,
    possessive,
    pronoun,
    proper,
)

T = TypeVar("T")

NAMES = {**MEN_NAMES, **WOMEN_NAMES}
PEOPLE_KINDS = "person kin honoured"
HONOURED_NOUNS = tuple(noun.english for noun in nouns("honoured"))


class Scene:
    """A sentence under construction: its choices, combinations and pronouns.

    A pronoun is (pronoun, antecedent, Hindi word whose form shows the antecedent, whether it does); None stands for the
    pronoun's own translation.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: set[str] = set()  # nouns and names, so that none comes twice where there are others
        self.combinations: set[str] = set()
        self.references: list[tuple[GoldWord, GoldWord, GoldWord | None, bool]] = []
        self.pronouns: Sequence[str] = PEOPLE  # the pronouns that may be subjects
        self.pairs = True  # whether subjects may be "Ram and Sita"

    def choose(self, options: Sequence[T]) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def weighted(self, weights: dict[T, int]) -> T:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def combine(self, kind: str, first: str, second: str) -> None:
        self.combinations.add(f"{kind}: {first}+{second}")

    def refer(self, word: GoldWord, antecedent: HindiPhrase, evidence: GoldWord | None, shows: bool) -> None:
        """Note a pronoun, unless its antecedent is another pronoun, or two people: no single word."""
        if antecedent.noun is not None or len(antecedent.english) == 1 and antecedent.head.text in NAMES:
            self.references.append((word, antecedent.head, evidence, shows))

    @property
    def honours(self) -> bool:
        """Whether the sentence names somebody whose "he" and "his" would be वे and उनका."""
        return not self.used.isdisjoint(HONOURED_NOUNS)

    def noun(self, kinds: str, countable: bool = False) -> HindiNoun:
        fitting = [noun for noun in nouns(kinds) if noun.plural or not countable]
        return self.take(self.choose([noun for noun in fitting if noun.english not in self.used] or fitting))

    def take(self, noun: HindiNoun) -> HindiNoun:
        self.used.add(noun.english)
        return noun

    def name(self) -> HindiPhrase:
        english = self.choose([name for name in NAMES if name not in self.used])
        self.used.add(english)
        return proper(english, NAMES[english], "m" if english in MEN_NAMES else "f")


_PLURAL_PLACES = ("garden", "field", "forest", "village", "shop", "river")  # where somebody can be in more than one


@cache
def _adjectives(noun: HindiNoun) -> tuple[Adjective, ...]:
    return tuple(adjective for adjective in ADJECTIVES if noun.is_any(adjective.kinds))


def qualities(noun: HindiNoun, among: str = "", predicative: bool = True) -> list[Adjective]:
    """Return the adjectives that can be the predicate of a noun, or come before it."""
    return [
        adjective
        for adjective in _adjectives(noun)
        if (adjective.predicative if predicative else adjective.attributive)
        and (not among or adjective.english in among.split())
    ]


def possessor(scene: Scene, owner: HindiPhrase | None) -> HindiDeterminer:
    """Choose "my", "his" or "Ram's"; अपना where the possessor is `owner`, the subject of the clause."""
    if scene.chance(0.2):
        return HindiDeterminer(possessor=scene.name())
    same = owner.pronoun if owner is not None and owner.animate else ""
    name = scene.choose([name for name in PEOPLE if not scene.honours or name not in ("he", "she") or name == same])
    is_own = name == same
    phrase = possessive(name, is_own)
    if is_own and owner is not None:
        scene.refer(phrase.head, owner, None, True)  # somebody else's would be उसका
    return HindiDeterminer(possessor=phrase)


def determiner(
    scene: Scene, noun: HindiNoun, plural: bool, owner: HindiPhrase | None, plain: bool = False, bare: bool = True
) -> HindiDeterminer:
    """Choose a determiner. `plain` excludes those that are odd in a negation, "does not eat two mangoes"; `bare` allows
    none: "eats mangoes".
    """
    if noun.is_any("relative honoured"):
        return possessor(scene, owner)
    if noun.is_any("language game music"):
        return HindiDeterminer()
    countable = noun.plural is not None
    weights = {"the": 6, "possessive": 0 if noun.is_any("wild") else 1 if noun.is_any("food drink") else 4}
    weights |= {"these": 1, "those": 1} if plural else {"this": 1, "that": 1}
    if bare and (plural or not countable):
        weights[""] = 2 if plural else 5
    if not plain:
        weights |= {"number": 4, "some": 1, "many": 1} if plural else {"a": 4} if countable else {"some": 2}
    chosen = scene.weighted(weights)
    if chosen == "possessive":
        return possessor(scene, owner)
    if chosen == "number":
        number = scene.choose(list(NUMBERS))
        return HindiDeterminer(number, NUMBERS[number])
    return HindiDeterminer(chosen, "थोड़ा" if chosen == "some" and not countable else "")


def described(
    scene: Scene, noun: HindiNoun, plural: bool = False, before: HindiDeterminer | None = None, quality: float = 0.3
) -> HindiPhrase:
    """Return a noun phrase, which has an adjective with the probability `quality`."""
    fitting = [] if noun.is_any("honoured language game music") else qualities(noun, predicative=False)
    adjective = scene.choose(fitting) if fitting and scene.chance(quality) else None
    if adjective:
        scene.combine("noun+adjective", noun.english, adjective.english)
    return noun_phrase(noun, plural, before, adjective)


def thing(
    scene: Scene, kinds: str, owner: HindiPhrase | None = None, plain: bool = False, plural: float = 0.35,
    quality: float = 0.3, bare: bool = True,
) -> HindiPhrase:  # fmt: skip
    """Choose a noun phrase; `plural` and `quality` are the probabilities of a plural and of an adjective."""
    noun = scene.noun(kinds)
    many = noun.plural is not None and scene.chance(plural)
    return described(scene, noun, many, determiner(scene, noun, many, owner, plain, bare), quality)


def subject(scene: Scene, kinds: str, generic: bool = False, plain: bool = False) -> HindiPhrase:
    """Choose a person or an animal; `generic` allows "Children eat sweets" and "Every child eats sweets"."""
    if {"person", "kin"} & set(kinds.split()):
        chance = scene.rng.random()
        if chance < 0.25:
            return scene.name()
        if chance < 0.45:
            return pronoun(scene.choose(scene.pronouns))
        if chance < 0.5 and scene.pairs:
            return coordinated(scene.name(), scene.name())
    if generic and "person" in kinds.split() and scene.chance(0.1):
        return described(scene, scene.noun("youth job guest"), before=HindiDeterminer("every"), quality=0)
    return thing(scene, kinds, plain=plain, quality=0.25, bare=generic)


def somebody(scene: Scene, kinds: str, owner: HindiPhrase, plain: bool = False) -> HindiPhrase:
    """Return an object: perhaps a name or a pronoun, where the kinds are people."""
    if {"person", "kin"} & set(kinds.split()):
        chance = scene.rng.random()
        if chance < 0.2:
            return scene.name()
        if chance < 0.35:
            unclear = {"I", "we"} if owner.pronoun in ("I", "we") else {owner.pronoun}
            unclear |= {"he", "she"} if scene.honours else set()
            return pronoun(scene.choose([name for name in PEOPLE if name not in unclear]), "object")
    return thing(scene, kinds, owner, plain)


def city(scene: Scene) -> HindiPhrase:
    english = scene.choose(list(CITIES))
    return proper(english, CITIES[english], "f", animate=False)


def with_preposition(english: str, marker: str, phrase: HindiPhrase) -> BilingualText:
    """Build a prepositional phrase. Where Hindi has no postposition ("to the market"), the preposition is linked to the
    noun, which is still oblique.
    """
    word = GoldWord(english)
    if marker:
        return BilingualText([word, *phrase.english], list(phrase.marked(marker, [word])))
    phrase.oblique[-1].of += (word,)
    return BilingualText([word, *phrase.english], list(phrase.oblique))


def place(scene: Scene, names: str, owner: HindiPhrase | None) -> BilingualText:
    """Choose a place: "in the garden", "near my house"."""
    if " " in names and scene.chance(0.15):
        english, hindi = scene.choose((("near", "के पास"), ("behind", "के पीछे"), ("in front of", "के सामने")))
        kinds = "house temple shop school hospital tree palace"
        return with_preposition(english, hindi, thing(scene, kinds, owner, True, 0, 0.2))
    several = [name for name in names.split() if name in _PLURAL_PLACES] if scene.chance(0.1) else []
    where = thing(scene, " ".join(several) or names, owner, True, float(bool(several)), 0.2, bare=False)
    assert where.noun is not None
    preposition, postposition = where.noun.place
    return with_preposition(preposition, postposition, where)


def fixed(phrase: AlignedPhrase) -> BilingualText:
    return BilingualText(*phrase.words())


def stop(side: BilingualText, mark: str = ".") -> BilingualText:
    end = GoldWord(mark, glued=True)
    return BilingualText([*side.english, end], [*side.hindi, GoldWord({".": "।"}.get(mark, mark), (end,), glued=True)])


def ask(side: BilingualText) -> BilingualText:
    return stop(side, "?")


def any_form(scene: Scene, build: Callable[[Mood], Clause]) -> BilingualText:
    """Write what `build` returns as a statement, negated now and then, or as a question."""
    chance = scene.rng.random()
    if chance < 0.2:
        return ask(build(Mood(question="whether")).whether())
    return stop(build(Mood(chance > 0.85)).statement())


def be_tense(scene: Scene) -> Tense:
    weights: dict[Tense, int] = {"present": 5, "past": 3, "future": 1}
    return scene.weighted(weights)
