"""Sentences of two clauses."""

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.being import anything, combine, copula, quality
from headlight.corpora.grammars.english_hindi.choices import (
    Scene,
    be_tense,
    described,
    determiner,
    qualities,
    stop,
    subject,
    thing,
)
from headlight.corpora.grammars.english_hindi.clauses import Clause, Mood, Tense
from headlight.corpora.grammars.english_hindi.events import event
from headlight.corpora.grammars.english_hindi.having import feeling, of_somebody
from headlight.corpora.grammars.english_hindi.lexicon import (
    ADJECTIVES,
    BAD_QUALITIES,
    FEELINGS,
    GOOD_QUALITIES,
    KNOW_THAT,
    NOUNS,
    OBJECT_REASONS,
    OPPOSITES,
    SAY,
    SUBJECT_REASONS,
    THINK,
    VERBS,
    Adjective,
    HindiVerb,
)
from headlight.corpora.grammars.english_hindi.phrases import (
    BilingualText,
    HindiDeterminer,
    HindiPhrase,
    noun_phrase,
    pronoun,
)
from headlight.corpora.grammars.hindi import NEUTRAL_AGREEMENT


def _joined(first: BilingualText, english: str, hindi: str, second: BilingualText) -> BilingualText:
    word = GoldWord(english)
    return BilingualText(
        [*first.english, word, *second.english], [*first.hindi, GoldWord(hindi, (word,)), *second.hindi]
    )


def said_that(scene: Scene) -> BilingualText:
    """Build "Ram knows that Sita is reading a book"; never with "he", which would be ambiguous."""
    doer = scene.name() if scene.chance(0.5) else pronoun(scene.choose(scene.pronouns))
    if scene.chance(0.3):
        doer = thing(scene, "kin person", quality=0, bare=False)
    verb = scene.choose((KNOW_THAT, SAY, THINK))
    mood = Mood(scene.chance(0.15) and verb is not SAY)
    agreement = NEUTRAL_AGREEMENT if verb.marker else doer.agreement
    matrix = of_somebody(doer, verb, "present", mood, BilingualText([], []), agreement)
    scene.pronouns = ("you",) if doer.pronoun in ("I", "we") else ("I", "we")
    if scene.chance(0.3):
        tense = be_tense(scene)
        subject_of_it, adjective = anything(scene, tense)
        combine(scene, subject_of_it, adjective)
        clause = copula(subject_of_it, quality(adjective, subject_of_it.agreement), tense)
    else:
        clause = event(scene)
    return stop(_joined(matrix.statement(), "that", "कि", clause.statement()))


def together(scene: Scene) -> BilingualText:
    """Build "Ram is reading a book and Sita is sleeping"."""
    tense: Tense = scene.choose(("progressive", "past", "future", "past progressive"))
    lively = [verb for verb in VERBS if not verb.never and verb.english[0] != verb.english[2]]
    first = event(scene, scene.choose(lively), tense=tense, adjuncts="phrases time opening")
    scene.pronouns, scene.pairs = ("I", "you", "we"), False
    second = event(scene, scene.choose(lively), tense=tense, adjuncts="phrases")
    return stop(_joined(first.statement(), "and", "और", second.statement()))


def _pronoun_for(antecedent: HindiPhrase) -> HindiPhrase:
    """Return the pronoun for somebody or something that was named before."""
    return pronoun(antecedent.pronoun, agreement=antecedent.agreement, animate=antecedent.animate)


def _is_so(scene: Scene, antecedent: HindiPhrase, adjective: Adjective, tense: Tense) -> Clause:
    """Build "it is old". The form of पुरानी shows the noun of "it", or else that of थी; "he" and "she" show their
    gender themselves.
    """
    pronoun_phrase = _pronoun_for(antecedent)
    clause = copula(pronoun_phrase, quality(adjective, pronoun_phrase.agreement, scene.chance(0.2)), tense)
    inflects = adjective.hindi.endswith(("ा", "आ"))
    evidence = clause.object.hindi[-1] if inflects else clause.verb_hindi[-1] if tense == "past" else None
    scene.refer(
        pronoun_phrase.head, antecedent, evidence, evidence is not None and pronoun_phrase.pronoun in ("it", "they")
    )
    return clause


def but(scene: Scene) -> BilingualText:
    """Build "The house is old but it is beautiful" or "The chapati is tasty and it is fresh"."""
    noun = scene.noun("person kin animal food drink text goods building")
    good, bad = qualities(noun, GOOD_QUALITIES), qualities(noun, BAD_QUALITIES)
    first, second = [good, bad] if scene.chance(0.5) else [bad, good]
    opposed = scene.chance(0.7)
    pairs = [
        (adjective, other)
        for adjective in (first if opposed else good)
        for other in (second if opposed else good)
        if adjective.english != other.english and {adjective.english, other.english} not in OPPOSITES
    ]
    if not pairs:
        return but(scene)
    first_adjective, second_adjective = scene.choose(pairs)
    many = noun.plural is not None and scene.chance(0.3)
    described_phrase = noun_phrase(noun, many, determiner(scene, noun, many, None, plain=True, bare=False))
    for adjective in (first_adjective, second_adjective):
        scene.combine("noun+adjective", noun.english, adjective.english)
    tense: Tense = "past" if scene.chance(0.3) else "present"
    left = copula(described_phrase, quality(first_adjective, described_phrase.agreement, scene.chance(0.2)), tense)
    right = _is_so(scene, described_phrase, second_adjective, tense)
    conjunction = ("but", "लेकिन") if opposed else ("and", "और")
    return stop(_joined(left.statement(), *conjunction, right.statement()))


def _plain_object(scene: Scene, verb: HindiVerb) -> HindiPhrase | None:
    """Choose an object without an owner, to whom the pronoun could refer as well."""
    if not verb.objects:
        return None
    noun = scene.noun(verb.objects)
    many = noun.plural is not None and scene.chance(0.3)
    if noun.is_any("language game music"):
        return noun_phrase(noun)
    words = ("the", "the", "those" if many else "that", "these" if many else "this", *("" for _ in range(many)))
    return described(scene, noun, many, HindiDeterminer(scene.choose(words)), quality=0)


def because_of_subject(scene: Scene) -> BilingualText:
    """Build "The girl did not eat the mango because she was sick"."""
    reason = scene.choose(list(SUBJECT_REASONS))
    causes, prevents = (bases.split() for bases in SUBJECT_REASONS[reason])
    negative = not causes or (bool(prevents) and scene.chance(0.5))
    bodily = reason in FEELINGS or reason in ("tired", "sick")
    verbs = [verb for verb in VERBS if verb.base in (prevents if negative else causes) and not verb.marker]
    verb = scene.choose([verb for verb in verbs if bodily or {"person", "kin"} & set(verb.subjects.split())])
    people = " ".join({"person", "kin", *(() if reason == "lazy" else ("honoured",))} & set(verb.subjects.split()))
    doer = subject(scene, verb.subjects if bodily else people, plain=True)
    past = scene.chance(0.6)
    tense: Tense = "past" if past else "progressive"
    if verb.never or (verb.english[0] == verb.english[2] and not negative):
        past, tense = True, "past" if verb.never else "past progressive"
    done_to = _plain_object(scene, verb)
    clause = event(scene, verb, doer, tense, Mood(negative), done_to, adjuncts="")
    if doer.noun is not None:
        scene.combine("antecedent+reason", doer.noun.english, reason)
    if reason in FEELINGS:
        pronoun_phrase = _pronoun_for(doer)
        scene.refer(pronoun_phrase.head, doer, None, False)  # उसे and उन्हें have no gender
        reason_clause = feeling(pronoun_phrase, reason, past)
    else:
        adjective = next(adjective for adjective in ADJECTIVES if adjective.english == reason)
        reason_clause = _is_so(scene, doer, adjective, "past" if past else "present")
    return stop(_joined(clause.statement(), "because", "क्योंकि", reason_clause.statement()))


def because_of_object(scene: Scene) -> BilingualText:
    """Build "The girl did not eat the mango because it was sour"."""
    base = scene.choose(list(OBJECT_REASONS))
    negative = scene.chance(0.5)
    among = OBJECT_REASONS[base][negative]
    verb = scene.choose([verb for verb in VERBS if verb.base == base])
    noun = scene.choose([noun for noun in NOUNS if noun.is_any(verb.objects) and qualities(noun, among)])
    adjective = scene.choose(qualities(scene.take(noun), among))
    doer = subject(scene, verb.subjects, plain=True)
    unclear = doer.pronoun == "they" and (doer.noun is None or bool(qualities(doer.noun, adjective.english)))
    many = noun.plural is not None and scene.chance(0.3) and not unclear
    before = HindiDeterminer(scene.choose(("the", "the", "those" if many else "that", "these" if many else "this")))
    done_to = noun_phrase(noun, many, before)
    tenses: dict[Tense, Tense] = {"past": "past", "future": "present", "progressive": "present"}
    if verb.english[0] == verb.english[2] and not negative:
        del tenses["past"]
    tense = scene.choose(list(tenses))
    clause = event(scene, verb, doer, tense, Mood(negative), done_to, adjuncts="")
    scene.combine("antecedent+reason", noun.english, adjective.english)
    reason_clause = _is_so(scene, done_to, adjective, tenses[tense])
    return stop(_joined(clause.statement(), "because", "क्योंकि", reason_clause.statement()))
