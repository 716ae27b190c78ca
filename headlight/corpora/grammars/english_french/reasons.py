"""Sentences in which only the meaning tells the antecedent of "it": the noun that can be tired, or that can be wide."""

import random
import re

from headlight.corpora.gold import GoldPair, GoldWord
from headlight.corpora.grammars.english_french.choices import (
    countable,
    definite,
    neutral_adjectives,
    nouns,
    plural,
    tense,
    timed,
    unmistakable,
)
from headlight.corpora.grammars.english_french.clauses import Mode, VerbForm, be_clause, clause, modal_clause
from headlight.corpora.grammars.english_french.french import Gender, Tense
from headlight.corpora.grammars.english_french.lexicon import (
    DAYS,
    FRAMES,
    LONE_FRAMES,
    PERSON_FRAMES,
    QUALITIES,
    FrenchNoun,
    Quality,
    VerbFrame,
)
from headlight.corpora.grammars.english_french.phrases import (
    Bilingual,
    FrenchPhrase,
    comma,
    noun_phrase,
    pronoun_for,
    sentence,
    word_for_word,
)

DEGREES = {"too": "trop", "very": "très", "so": "si"}


def by_meaning(rng: random.Random) -> GoldPair:
    """Build "The animal didn't cross the street because it was too tired"."""
    return _with_reason(rng, rng.choice(FRAMES))


def with_person(rng: random.Random) -> GoldPair:
    """Build "The girl didn't cross the street because it was too wide": "she" and "it" tell them apart."""
    return _with_reason(rng, rng.choice(PERSON_FRAMES))


def _with_reason(rng: random.Random, frame: VerbFrame) -> GoldPair:
    of_subject = rng.random() < 0.5
    quality = QUALITIES[rng.choice(frame.subject_reasons if of_subject else frame.object_reasons)]
    subject, object = _subject_and_object(rng, frame, of_subject, quality)
    antecedent = subject if of_subject else object
    main, tense, link = _main(rng, frame, subject, object)
    return _resolved(rng, main + link, antecedent, tense, quality, "too" if frame.negative else "very")


def _subject_and_object(
    rng: random.Random, frame: VerbFrame, of_subject: bool, quality: Quality
) -> tuple[FrenchPhrase, FrenchPhrase]:
    """Choose both phrases. The noun with the reason is as often masculine as feminine, so gender cannot be guessed."""
    own_kinds, other_kinds = (frame.subject, frame.object) if of_subject else (frame.object, frame.subject)
    gender: Gender = rng.choice(("m", "f"))
    noun = rng.choice(nouns(own_kinds, quality, gender) or nouns(own_kinds, quality))
    # Mostly of two genders, so that French shows the antecedent.
    opposite: Gender = "f" if (noun.gender == "m") == (rng.random() < 0.9) else "m"
    other_noun = rng.choice([candidate for candidate in nouns(other_kinds, None, opposite) if candidate is not noun])

    noun_pair: tuple[FrenchNoun, FrenchNoun] = (noun, other_noun) if of_subject else (other_noun, noun)
    # Mostly "it" for either; then "they" for either; else their numbers tell them apart.
    (numbers,) = rng.choices(((False, False), (True, True), (True, False), (False, True)), (75, 10, 8, 7))
    subject, object = (
        noun_phrase(each, definite(rng, each), many and countable(each), neutral_adjectives(rng, each))
        for each, many in zip(noun_pair, numbers, strict=True)
    )
    return subject, object


def _main(
    rng: random.Random, frame: VerbFrame, subject: FrenchPhrase, object: FrenchPhrase
) -> tuple[Bilingual, Tense, Bilingual]:
    """Return the main clause, the tense of the clause that follows it, and "because" or "but" between them."""
    verb, chance = frame.verb, rng.random()
    willing = subject.noun is not None and not subject.noun.kinds.isdisjoint(("person", "animal"))
    if frame.negative and willing and chance < 0.15:
        return modal_clause(subject, "wanted to", verb, object), "past", comma() + word_for_word("but", "mais")
    if frame.negative and chance < 0.35:
        modes: tuple[Mode, ...] = ("couldn't", "can't")
        if willing:
            modes += ("didn't want to", "doesn't want to")
        mode = rng.choice(modes)
        when: Tense = "present" if mode in ("can't", "doesn't want to") else "past"
        return modal_clause(subject, mode, verb, object), when, because()
    when = tense(rng) if frame.negative else unmistakable(verb, tense(rng))
    main = clause(subject, verb, VerbForm(when, frame.negative), object=object)
    return timed(rng, main, when, DAYS), "past" if when == "past" else "present", because()


def because() -> Bilingual:
    word = GoldWord("because")
    return Bilingual([word], [GoldWord("parce", (word,)), GoldWord("que", (word,))])


def _resolved(
    rng: random.Random, text: Bilingual, antecedent: FrenchPhrase, tense: Tense, quality: Quality, degree: str
) -> GoldPair:
    """Build `text` and "it was too tired"."""
    assert antecedent.noun is not None and antecedent.head is not None
    pronoun = pronoun_for(antecedent)
    if degree == "very" and not quality.takes_avoir and rng.random() < 0.3:
        degree = "so"
    measured = word_for_word(degree, DEGREES[degree]) if quality.graded else None
    text += be_clause(pronoun, VerbForm(tense), quality=quality, degree=measured)
    pair = f"{antecedent.noun.english}+{quality.english}"
    text.combinations |= {f"antecedent+reason: {pair}", f"noun+adjective: {pair}"}
    return sentence(text, pronouns=[(pronoun.english[0], antecedent.head, pronoun.french[0])])


def alone(rng: random.Random) -> GoldPair:
    """Build "The cat slept because it was tired", with a single possible antecedent."""
    frame = rng.choice(LONE_FRAMES)
    quality = QUALITIES[rng.choice(frame.subject_reasons)]
    noun = rng.choice(nouns(frame.subject, quality))
    subject = noun_phrase(noun, definite(rng, noun), plural(rng, noun), neutral_adjectives(rng, noun))
    when: Tense = rng.choice(("past", "present"))
    main = timed(rng, clause(subject, frame.verb, VerbForm(when)), when, DAYS)
    return _resolved(rng, main + because(), subject, when, quality, "very")


def swaps(text: str) -> list[str]:
    """Return `text` with its last adjective replaced by each that would be a reason of the other noun.

    "… because it was too tired." becomes "wide", "busy" and other adjectives of the object. The list is empty for a
    sentence whose verb has no frame, or which has no such reason after "because" or "but".
    """
    if (joined := re.search(r"\b(?:because|but)\b", text)) is None:
        return []
    main_clause = text[: joined.start()].lower()
    replacements: dict[tuple[int, int], list[str]] = {}
    for frame in (*FRAMES, *PERSON_FRAMES):
        if not re.search(rf"\b{frame.verb.english}", main_clause):
            continue
        for reasons, other_reasons in (
            (frame.subject_reasons, frame.object_reasons),
            (frame.object_reasons, frame.subject_reasons),
        ):
            for reason in reasons:
                for match in re.finditer(rf"\b{re.escape(reason)}\b", text[joined.end() :]):
                    adjectives = replacements.setdefault(match.span(), [])
                    adjectives += [other for other in other_reasons if other not in adjectives]
    if not replacements:
        return []
    begin, end = max(replacements, key=lambda span: (span[1], -span[0]))
    head, tail = text[: joined.end() + begin], text[joined.end() + end :]
    return [head + other + tail for other in replacements[begin, end]]
