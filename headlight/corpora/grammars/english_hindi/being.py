"""Sentences with "to be": what and where somebody or something is."""

from dataclasses import replace

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.choices import (
    PEOPLE_KINDS,
    Scene,
    any_form,
    ask,
    be_tense,
    described,
    determiner,
    place,
    possessor,
    qualities,
    somebody,
    stop,
    subject,
    thing,
    with_preposition,
)
from headlight.corpora.grammars.english_hindi.clauses import Clause, Mood, Tense, english_be, hindi_verb
from headlight.corpora.grammars.english_hindi.lexicon import ADJECTIVES, NOUNS, NUMBERS, Adjective
from headlight.corpora.grammars.english_hindi.phrases import (
    BilingualText,
    HindiDeterminer,
    HindiPhrase,
    noun_phrase,
    possessive,
    pronoun,
    who,
)
from headlight.corpora.grammars.hindi import BE, NEUTRAL_AGREEMENT, HindiAgreement, inflected


def copula(doer: HindiPhrase, complement: BilingualText, tense: Tense, negative: bool = False) -> Clause:
    verb = english_be(tense, doer, negative)
    hindi_parts = hindi_verb(BE, tense, doer.agreement, verb)
    return Clause(doer.text, verb, hindi_parts, complement)


def quality(adjective: Adjective, agreement: HindiAgreement, very: bool = False) -> BilingualText:
    very = very and adjective.has_degrees
    degree, word = [GoldWord("very")] * very, GoldWord(adjective.english)
    hindi = [GoldWord("बहुत", tuple(degree))] * very
    return BilingualText([*degree, word], [*hindi, GoldWord(inflected(adjective.hindi, agreement), (word,))])


def _of_anybody(scene: Scene, compared: bool) -> tuple[HindiPhrase, Adjective]:
    """Return a name or a pronoun, with an adjective that says nothing about age."""
    everybody = [adjective for adjective in ADJECTIVES if {"person", "kin"} <= set(adjective.kinds.split())]
    fitting = [adjective for adjective in everybody if adjective.comparative or not compared]
    return _anybody(scene), scene.choose(fitting)


def _anybody(scene: Scene) -> HindiPhrase:
    return scene.name() if scene.chance(0.6) else pronoun(scene.choose(scene.pronouns))


def anything(scene: Scene, tense: Tense, compared: bool = False) -> tuple[HindiPhrase, Adjective]:
    """Choose a noun phrase, and an adjective that can describe it."""
    if scene.chance(0.3):
        return _of_anybody(scene, compared)
    kinds = (PEOPLE_KINDS, "animal", "food drink", "text show song", "goods", "building", "inside outside way")
    noun = scene.noun(scene.choose(kinds))
    fitting = [adjective for adjective in qualities(noun) if adjective.comparative or not compared]
    if not fitting:
        return anything(scene, tense, compared)
    adjective = scene.choose(fitting)
    many = noun.plural is not None and scene.chance(0.3)
    before = determiner(scene, noun, many, None, plain=True, bare=tense == "present")
    return noun_phrase(noun, many, before), adjective


def combine(scene: Scene, doer: HindiPhrase, adjective: Adjective) -> None:
    if doer.noun is not None:
        scene.combine("noun+adjective", doer.noun.english, adjective.english)


def described_as(scene: Scene) -> BilingualText:
    def build(mood: Mood) -> Clause:
        tense = be_tense(scene)
        doer, adjective = anything(scene, tense)
        combine(scene, doer, adjective)
        return copula(doer, quality(adjective, doer.agreement, scene.chance(0.25)), tense, mood.negative)

    return any_form(scene, build)


_COMPARABLE_KINDS = (
    *(PEOPLE_KINDS, "animal", "food", "drink", "text", "show", "tune"),
    *("goods", "building", "inside", "outside way"),
)


def compared(scene: Scene) -> BilingualText:
    def build(mood: Mood) -> Clause:
        tense: Tense = "past" if scene.chance(0.25) else "present"
        doer, adjective = anything(scene, tense, compared=True)
        if doer.noun is None:
            other = scene.name() if scene.chance(0.6) else somebody(scene, "kin honoured", doer)
        else:
            new = [noun for noun in NOUNS if noun.plural and noun.english not in scene.used]
            group = next(group for group in _COMPARABLE_KINDS if doer.noun.is_any(group))
            alike = [noun for noun in new if noun.is_any(group) and noun.is_any(adjective.kinds)]
            if not alike:
                return build(mood)
            noun = scene.take(scene.choose(alike))
            other = noun_phrase(noun, False, determiner(scene, noun, False, doer, plain=True, bare=False))
        combine(scene, doer, adjective)
        than = with_preposition("than", "से", other)
        words = [GoldWord(word) for word in adjective.comparative.split()]
        hindi = [GoldWord(inflected(adjective.hindi, doer.agreement), (words[-1],))]
        if len(words) > 1 or not adjective.hindi.endswith("ा"):  # "bigger" is बड़ा, "cleverer" ज़्यादा होशियार
            hindi.insert(0, GoldWord("ज़्यादा", (words[0],)))
        return copula(doer, BilingualText([*words, *than.english], [*than.hindi, *hindi]), tense, mood.negative)

    return any_form(scene, build)


def profession(scene: Scene) -> BilingualText:
    """Build "Sita is a teacher"."""

    def build(mood: Mood) -> Clause:
        tense = be_tense(scene)
        doer = thing(scene, "kin honoured", quality=0.1, bare=False) if scene.chance(0.3) else _anybody(scene)
        noun = scene.noun("job")
        woman = doer.agreement.gender == "f"
        many = doer.pronoun == "they" or doer.pronoun == "we"
        hindi = noun.feminine if woman else noun.hindi
        respected = doer.agreement.plural and not many
        kinds = noun.kinds | ({"honoured"} if respected else set()) | ({"fixed"} if hindi == noun.hindi else set())
        person = replace(noun, hindi=hindi, gender=doer.agreement.gender, kinds=kinds)
        fitting = qualities(noun, "good bad famous honest brave clever lazy")
        adjective = scene.choose(fitting) if scene.chance(0.4) else None
        if adjective:
            scene.combine("noun+adjective", noun.english, adjective.english)
        job = noun_phrase(person, many, HindiDeterminer("" if many else "a"), adjective)
        return copula(doer, job.text, tense, mood.negative)

    return any_form(scene, build)


_PORTABLE_KINDS = "text small dish toy picture hat ring necklace gift umbrella ball mirror flower basket box bag shoe"


def whereabouts(scene: Scene) -> BilingualText:
    """Build "The book is on the table", "There is a book on the table" or "Where is the book?"."""
    kinds, places = scene.choose(
        (
            (PEOPLE_KINDS, "garden market school shop office hospital room library station"),
            ("animal", "garden field forest road"),
            (_PORTABLE_KINDS, "table bed chair room house shop"),
            ("building", "city village forest"),
        )
    )
    tense = be_tense(scene)
    chance = scene.rng.random()
    if chance < 0.15:
        doer = thing(scene, kinds, plain=True, bare=False)
        return ask(
            copula(doer, BilingualText([], []), "past" if tense == "past" else "present").ask_for("where", "कहाँ")
        )
    if chance < 0.5:
        noun = scene.noun("person" if kinds == PEOPLE_KINDS else kinds)
        many = noun.plural is not None and scene.chance(0.5)
        number = scene.choose(list(NUMBERS))
        before = HindiDeterminer(number, NUMBERS[number]) if many else HindiDeterminer("a")
        side = described(scene, noun, many, before)
        expletive = GoldWord("there")
        verb = english_be(tense, side)
        hindi_parts = hindi_verb(BE, tense, side.agreement, verb, (expletive, *verb.main))
        location = place(scene, places, None)
        clause = Clause(
            BilingualText([expletive], []),
            verb,
            hindi_parts,
            side.text,
            phrases=location,
        )
        return ask(clause.whether()) if scene.chance(0.2) else stop(clause.statement())
    doer = subject(scene, kinds, plain=True) if kinds == PEOPLE_KINDS else thing(scene, kinds, plain=True, bare=False)
    location = place(scene, places, doer)
    clause = copula(doer, location, tense, negative=chance > 0.9)
    return ask(clause.whether()) if chance < 0.6 else stop(clause.statement())


def named(scene: Scene) -> BilingualText:
    """Build "My name is Ram" or "Her brother's name is Mohan"; never "my name is Sita", since "I" is a man here."""
    called = scene.name()
    his = called.pronoun == "he"
    if scene.chance(0.5):
        kin = noun_phrase(
            scene.noun("brother son friend neighbour" if his else "sister daughter"), False, possessor(scene, None)
        )
        ending = [GoldWord("'s", glued=True)]
        owner = BilingualText([*kin.english, *ending], list(kin.genitive(NEUTRAL_AGREEMENT, of=ending)))
    else:
        somebody = possessive(scene.choose(("I", "you", "he") if his else ("she",)), is_own=False)
        owner = BilingualText(list(somebody.english), list(somebody.genitive(NEUTRAL_AGREEMENT)))
    name = GoldWord("name")
    verb = english_be("present", called)
    clause = Clause(
        BilingualText([*owner.english, name], [*owner.hindi, GoldWord("नाम", (name,))]),
        verb,
        hindi_verb(BE, "present", NEUTRAL_AGREEMENT, verb),
        called.text,
    )
    return stop(clause.statement())


def who_is(scene: Scene) -> BilingualText:
    """Build "Who is this boy?"."""
    many = scene.chance(0.3)
    word = scene.choose(("these", "those") if many else ("this", "that"))
    person = noun_phrase(scene.noun("person"), many, HindiDeterminer(word))
    return ask(copula(person, BilingualText([], []), "present").ask_for("who", "कौन"))


def presented(scene: Scene) -> BilingualText:
    """Build "This is my book" or "Whose book is this?"; "this is my father" is ये, for a person who is honoured."""
    has_owner = scene.chance(0.3)
    noun = scene.noun("goods pet kin house shop" if has_owner else "goods pet kin honoured building")
    many = noun.plural is not None and scene.chance(0.3)
    if has_owner:
        phrase = noun_phrase(noun, many, HindiDeterminer(possessor=who("whose")))
    else:
        before = HindiDeterminer("" if many else "a") if noun.is_any("wild") else possessor(scene, None)
        phrase = described(scene, noun, many, before)
    is_near = scene.chance(0.6)
    pointing = GoldWord(("these" if is_near else "those") if many else "this" if is_near else "that")
    plural = phrase.agreement.plural
    pointed = [GoldWord(("ये" if is_near else "वे") if plural else "यह" if is_near else "वह", (pointing,))]
    verb = english_be("present", phrase)
    hindi_parts = hindi_verb(BE, "present", phrase.agreement, verb)
    if has_owner:
        return ask(
            BilingualText([*phrase.english, *verb.auxiliary, pointing], [*pointed, *phrase.direct, *hindi_parts])
        )
    clause = Clause(BilingualText([pointing], pointed), verb, hindi_parts, phrase.text)
    return ask(clause.whether()) if scene.chance(0.2) else stop(clause.statement())
