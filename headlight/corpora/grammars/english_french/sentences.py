"""Statements, questions, and pronouns that French writes before the verb."""

import random
from dataclasses import replace

from headlight.corpora.gold import GoldPair, GoldWord
from headlight.corpora.grammars.english_french.choices import (
    adjectives,
    adverb,
    at,
    definite,
    destination,
    known,
    nouns,
    place,
    plural,
    some,
    subject,
    tense,
    timed,
    unmistakable,
)
from headlight.corpora.grammars.english_french.clauses import VerbForm, be_clause, clause
from headlight.corpora.grammars.english_french.french import ETRE, IL, ILS, JE, NOUS, VOUS, Gender, Tense
from headlight.corpora.grammars.english_french.lexicon import (
    CONSECUTIVE_VERBS,
    DITRANSITIVE_VERBS,
    INTRANSITIVE_VERBS,
    NOUNS,
    PERSON_FRAMES,
    PLACES,
    PLACES_OF_THINGS,
    QUALITIES,
    TRANSITIVE_VERBS,
    VERBS,
    FrenchVerb,
    Quality,
)
from headlight.corpora.grammars.english_french.phrases import (
    NUMBERS,
    A,
    Bilingual,
    FrenchPhrase,
    comma,
    noun_phrase,
    object_pronoun_for,
    pronoun_phrase,
    sentence,
    word_for_word,
)
from headlight.corpora.grammars.english_french.reasons import DEGREES

_LOVE, _GO = VERBS["love"], VERBS["go"]


def transitive(rng: random.Random) -> GoldPair:
    """Build "The girl doesn't eat any apples"."""
    verb, negative = rng.choice(TRANSITIVE_VERBS), rng.random() < 0.35
    when = tense(rng) if negative else unmistakable(verb, tense(rng))
    # "Aime toujours" would be "still loves".
    often = adverb(rng, negative) if when == "present" and verb is not _LOVE and rng.random() < 0.3 else None
    # "Aime le lait", never "du lait"; and "ne lit pas souvent de lettre" would be odd.
    definite_only = verb is _LOVE or (negative and often)
    object = known(rng, verb.objects) if definite_only else some(rng, verb.objects, negated=negative)
    text = clause(subject(rng, verb.subjects), verb, VerbForm(when, negative), object=object, adverb=often)
    return sentence(text if often or verb is _LOVE else timed(rng, text, when))


def intransitive(rng: random.Random) -> GoldPair:
    """Build "My brother stayed at the station"."""
    when, negative = tense(rng), rng.random() < 0.3
    verb, who = _doing(rng, when)
    often = adverb(rng, negative) if when == "present" and rng.random() < 0.3 else None
    text = _somewhere(rng, verb, clause(who, verb, VerbForm(when, negative), adverb=often))
    return sentence(text if often else timed(rng, text, when))


def _doing(rng: random.Random, when: Tense) -> tuple[FrenchVerb, FrenchPhrase]:
    verb = rng.choice(INTRANSITIVE_VERBS)
    return verb, subject(rng, verb.subjects, agreeing=verb.conjugation.with_etre and when == "past")


def _somewhere(rng: random.Random, verb: FrenchVerb, text: Bilingual) -> Bilingual:
    if verb is _GO:
        return text + destination(rng)
    return text + place(rng) if rng.random() < 0.7 else text


def being(rng: random.Random) -> GoldPair:
    """Build "The soup isn't very hot"."""
    who, quality = _described(rng)
    negative = rng.random() < 0.35
    return sentence(be_clause(who, VerbForm(tense(rng), negative), quality=quality, degree=_degree(rng, quality)))


def _described(rng: random.Random) -> tuple[FrenchPhrase, Quality]:
    quality = rng.choice(list(QUALITIES.values()))
    noun = rng.choice([noun for noun in NOUNS if quality.fits(noun)])
    who = noun_phrase(noun, definite(rng, noun), plural(rng, noun))
    who.combinations.add(f"noun+adjective: {noun.english}+{quality.english}")
    return who, quality


def _degree(rng: random.Random, quality: Quality) -> Bilingual | None:
    degree = rng.choice(("too", "very"))
    return word_for_word(degree, DEGREES[degree]) if quality.graded and rng.random() < 0.6 else None


def lying(rng: random.Random) -> GoldPair:
    """Build "The key is in the drawer"."""
    where = rng.choice(PLACES_OF_THINGS)
    noun = rng.choice(nouns(where.things))
    who = noun_phrase(noun, definite(rng, noun), plural(rng, noun))
    text = be_clause(who, VerbForm(tense(rng), rng.random() < 0.3), place=at(rng, where))
    return sentence(text)


def existing(rng: random.Random) -> GoldPair:
    """Build "There is a dog in the garden"."""
    where = rng.choice(PLACES)
    kinds = "person" if where.preposition.source == "at" else "animal person vehicle"
    noun = rng.choice([noun for noun in nouns(kinds) if "family" not in noun.kinds])
    is_plural, past = plural(rng, noun), rng.random() < 0.5
    existing_phrase = noun_phrase(noun, rng.choice((A, *NUMBERS)) if is_plural else A, is_plural, adjectives(rng, noun))
    expletive = GoldWord("there")
    be = GoldWord(("were" if is_plural else "was") if past else ("are" if is_plural else "is"))
    begin = Bilingual(
        [expletive, be],
        [GoldWord("il", (expletive,)), GoldWord("y", (expletive,)), GoldWord("avait" if past else "a", (be,))],
    )
    return sentence(begin + existing_phrase + at(rng, where))


# Questions


def yes_or_no(rng: random.Random) -> GoldPair:
    """Build "Did the girl eat the apple?"."""
    when = tense(rng)
    if rng.random() < 0.4:
        verb, who = _doing(rng, when)
        return _question(_somewhere(rng, verb, clause(who, verb, VerbForm(when, question=True))))
    verb = rng.choice(TRANSITIVE_VERBS)
    who = subject(rng, verb.subjects)
    object = known(rng, verb.objects) if verb is _LOVE else some(rng, verb.objects)
    text = clause(who, verb, VerbForm(when, question=True), object=object)
    return _question(text if verb is _LOVE else timed(rng, text, when, first=False))


def _question(text: Bilingual) -> GoldPair:
    return sentence(text, end="?")


def whether(rng: random.Random) -> GoldPair:
    """Build "Was the soup too hot?"."""
    who, quality = _described(rng)
    return _question(be_clause(who, VerbForm(tense(rng), question=True), quality=quality, degree=_degree(rng, quality)))


def adverbial(rng: random.Random) -> GoldPair:
    """Build a question with "where", "when" or "why", also "why not"."""
    english, french = rng.choice((("where", "où"), ("when", "quand"), ("why", "pourquoi")))
    when, negative = tense(rng), english == "why" and rng.random() < 0.5
    if rng.random() < 0.4:
        verb, who = _doing(rng, when)
        text = clause(who, verb, VerbForm(when, negative, question=True))
        if verb is _GO and english != "where":
            text += destination(rng)
        return _question(word_for_word(english, french) + text)
    verb = rng.choice([verb for verb in TRANSITIVE_VERBS if verb is not _LOVE])
    who, object = subject(rng, verb.subjects), known(rng, verb.objects)
    text = clause(who, verb, VerbForm(when, negative, question=True), object=object)
    return _question(word_for_word(english, french) + text)


def who_does(rng: random.Random) -> GoldPair:
    """Build "Who ate the apple?"."""
    verb = rng.choice(TRANSITIVE_VERBS)
    when = unmistakable(verb, tense(rng))
    who = pronoun_phrase("who", "qui", IL, "m")
    return _question(clause(who, verb, VerbForm(when), object=known(rng, verb.objects)))


def whom_or_what(rng: random.Random) -> GoldPair:
    """Build "What did the girl eat?" or "Who did she see?"."""
    verb = rng.choice(TRANSITIVE_VERBS)
    of_person = "person" in verb.objects.split() and rng.random() < 0.5
    when = tense(rng)
    text = clause(subject(rng, verb.subjects), verb, VerbForm(when, question=True))
    if verb is not _LOVE:
        text = timed(rng, text, when, first=False)
    return _question((word_for_word("who", "qui") if of_person else word_for_word("what", "que")) + text)


def where_is(rng: random.Random) -> GoldPair:
    """Build "Where are my keys?", which French asks without "est-ce que"."""
    who = known(rng, "thing pet text clothes container venue")
    past = rng.random() < 0.4
    be = GoldWord(("were" if who.is_plural else "was") if past else ("are" if who.is_plural else "is"))
    form = ETRE.form("imperfect" if past else "present", who.person)
    return _question(word_for_word("where", "où") + Bilingual([be], [GoldWord(form, (be,))]) + who)


# Pronouns before the verb


def ditransitive(rng: random.Random) -> GoldPair:
    """Build "The girl gave him the book", "La fille lui a donné le livre"; or to her brother."""
    verb, when, negative = rng.choice(DITRANSITIVE_VERBS), tense(rng), rng.random() < 0.3
    giver, direct_object = subject(rng, verb.subjects), some(rng, verb.objects, negated=negative)
    if rng.random() < 0.4:
        receiver = word_for_word("to", "à") + known(rng, "person")
        text = clause(giver, verb, VerbForm(when, negative), object=direct_object + receiver)
    else:
        # Masculine singular, like a participle that agrees with nothing, since indirect objects cause no agreement.
        receivers = [entry for entry in _RECEIVERS if entry[0] not in _EXCLUDED_OBJECTS.get(giver.person, ())]
        clitic = pronoun_phrase(*rng.choice(receivers), IL, "m")
        text = clause(giver, verb, VerbForm(when, negative), clitic=clitic, object=direct_object)
    return sentence(timed(rng, text, when))


_RECEIVERS = (("me", "me"), ("him", "lui"), ("her", "lui"), ("us", "nous"), ("you", "vous"), ("them", "leur"))
_EXCLUDED_OBJECTS = {JE: ("me", "us"), NOUS: ("me", "us"), VOUS: ("you",)}  # "I see me"


def with_pronoun_object(rng: random.Random) -> GoldPair:
    """Build "Marie saw him yesterday", "Marie l'a vu hier"."""
    verb = rng.choice([verb for verb in TRANSITIVE_VERBS if "person" in verb.objects.split()])
    when, negative = tense(rng), rng.random() < 0.35
    who = subject(rng, "person")
    objects = [entry for entry in _OBJECTS if entry[0] not in _EXCLUDED_OBJECTS.get(who.person, ())]
    if when == "past":  # when the participle would have to know who "you" are
        objects = [entry for entry in objects if entry[0] in ("him", "her")]
    text = clause(who, verb, VerbForm(when, negative), clitic=pronoun_phrase(*rng.choice(objects)))
    return sentence(text if verb is _LOVE else timed(rng, text, when))


_OBJECTS: tuple[tuple[str, str, int, Gender], ...] = (
    ("me", "me", JE, "m"),
    ("him", "le", IL, "m"),
    ("her", "la", IL, "f"),
    ("us", "nous", NOUS, "m"),
    ("you", "vous", VOUS, "m"),
    ("them", "les", ILS, "m"),
)


def one_after_the_other(rng: random.Random) -> GoldPair:
    """Build "The girl bought an apple and ate it", "La fille a acheté une pomme et l'a mangée"."""
    first, second, kinds = rng.choice(CONSECUTIVE_VERBS)
    who, direct_object = subject(rng, "person"), some(rng, kinds)
    # In the present "les" would not show the gender.
    when: Tense = "past" if direct_object.is_plural or rng.random() < 0.7 else "present"
    negative = rng.random() < 0.3
    link = word_for_word("but", "mais") if negative else word_for_word("and", "et")
    silent = replace(who, english=[], french=[])
    clitic = object_pronoun_for(direct_object)
    then = clause(silent, second, VerbForm(when, negative), clitic=clitic)
    text = clause(who, first, VerbForm(when), object=direct_object) + link + then
    return _standing_for(text, direct_object, clitic, then, when)


def _standing_for(
    text: Bilingual, phrase: FrenchPhrase, clitic: FrenchPhrase, after: Bilingual, when: Tense
) -> GoldPair:
    """Build the pair in which the pronoun of `after` stands for `phrase`; in the past, the participle agrees."""
    assert phrase.head is not None
    written = after.french[-1] if when == "past" else clitic.french[0]
    return sentence(text, pronouns=[(clitic.english[0], phrase.head, written)])


def consequence(rng: random.Random) -> GoldPair:
    """Build "The soup was too hot, so the girl didn't eat it", "alors la fille ne l'a pas mangée"."""
    frame = rng.choice([frame for frame in PERSON_FRAMES if frame.negative])
    quality = QUALITIES[rng.choice(frame.object_reasons)]
    noun = rng.choice(nouns(frame.object, quality))
    phrase = noun_phrase(noun, definite(rng, noun), plural(rng, noun))
    measured = word_for_word("too", DEGREES["too"]) if quality.graded else None
    clitic = object_pronoun_for(phrase)
    result = clause(subject(rng, "person"), frame.verb, VerbForm("past", True), clitic=clitic)
    text = be_clause(phrase, VerbForm("past"), quality=quality, degree=measured)
    text += comma() + word_for_word("so", "alors") + result
    pair = f"{noun.english}+{quality.english}"
    text.combinations |= {f"antecedent+reason: {pair}", f"noun+adjective: {pair}"}
    return _standing_for(text, phrase, clitic, result, "past")
