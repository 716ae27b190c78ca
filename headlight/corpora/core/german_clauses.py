"""Clauses of a subject and a verb phrase in German and English: tenses, negation, questions, subordinate clauses."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from headlight.corpora import english
from headlight.corpora.core.german import GermanVerb, split_verb
from headlight.corpora.core.templates import SentencePair
from headlight.corpora.word_tables import read_lists, read_table

_POSSESSIVE_SLOT = re.compile(r"@(\w*)")
_REFLEXIVE_ACCUSATIVE = ("mich", "dich", "sich", "uns", "euch", "sich")
_REFLEXIVE_DATIVE = ("mir", "dir", "sich", "uns", "euch", "sich")


class GermanSubject(NamedTuple):
    german: str
    person: int  # as in GermanVerb.present
    english: str
    english_person: int  # 0 I, 1 you, we, they, 2 he, she, it
    possessive: str
    english_possessive: str
    pronoun: str  # in a second clause
    english_pronoun: str


class GermanVerbPhrase(NamedTuple):
    german: str  # before the verb, without "sich"
    negated: str  # the same with "nicht" in its place; empty where "nicht" would not be said
    verb: GermanVerb
    english: str
    reflexive: str  # "", "sich" or "sich_" (dative)


def _subject(row: dict[str, str]) -> GermanSubject:
    possessives, pronouns = (row["possessive"], row["english_possessive"]), (row["pronoun"], row["english_pronoun"])
    person, english_person = int(row["person"]), int(row["english_person"])
    return GermanSubject(row["german"], person, row["english"], english_person, *possessives, *pronouns)


_FOLDER = Path(__file__).parent / "de-en"
SUBJECTS = read_table(_FOLDER / "subjects.tsv", _subject)
_BY_PRONOUN = {subject.german: subject for subject in reversed(SUBJECTS)}
_DU, _WIR, _IHR, _SIE = (_BY_PRONOUN[pronoun] for pronoun in ("du", "wir", "ihr", "Sie"))


def read_verb_phrase(line: str) -> GermanVerbPhrase:
    """Read "die Tür * zu|machen = close the door"; * is the place of "nicht", @en is "meinen", "deinen", ..."""
    source, target = (side.strip() for side in line.split(" = "))
    *words, verb = source.split()
    reflexive = words.pop(0) if words and words[0] in ("sich", "sich_") else ""
    plain = " ".join(word for word in words if word != "*")
    negated = " ".join("nicht" if word == "*" else word for word in words) if "*" in words else ""
    return GermanVerbPhrase(plain, negated, split_verb(verb), target, reflexive)


def _words(subject: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "", negated: bool = False) -> str:
    """Return what stands between subject and verb: the reflexive pronoun, the adverb and the objects."""
    pronouns = _REFLEXIVE_DATIVE if phrase.reflexive == "sich_" else _REFLEXIVE_ACCUSATIVE
    reflexive = pronouns[subject.person] if phrase.reflexive else ""
    text = phrase.negated if negated else phrase.german
    return _join(reflexive, adverb, _POSSESSIVE_SLOT.sub(lambda match: _possessive(subject.possessive, match[1]), text))


def _possessive(base: str, ending: str) -> str:
    return ("eur" if base == "euer" and ending else base) + ending


def _english(subject: GermanSubject, phrase: GermanVerbPhrase) -> str:
    return phrase.english.replace("@", subject.english_possessive)


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _sentence(source: str, target: str, end: str = ".") -> SentencePair:
    return source[:1].upper() + source[1:] + end, target[:1].upper() + target[1:] + end


def _agreeing(subject: GermanSubject, verb: str) -> str:
    return english.third_person(verb) if subject.english_person == 2 else verb


def _present_english(subject: GermanSubject, phrase: GermanVerbPhrase) -> str:
    return _agreeing(subject, _english(subject, phrase))


def _be(subject: GermanSubject) -> str:
    return ("am", "are", "is")[subject.english_person]


def _do(subject: GermanSubject) -> str:
    return _agreeing(subject, "do")


def _includes_speaker(subject: GermanSubject) -> bool:
    """Return whether the subject is "ich" or "wir", about which one rarely asks."""
    return subject.person in (0, 3)


def _is_third_person(subject: GermanSubject) -> bool:
    return subject.english_person == 2 or subject.english_possessive == "their"


def _main(subject: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "", negated: bool = False) -> str:
    words = _words(subject, phrase, adverb, negated)
    return _join(subject.german, phrase.verb.present(subject.person), words, phrase.verb.prefix)


def _inverted(subject: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "") -> str:
    return _join(subject.german, _words(subject, phrase, adverb))


def _inverted_main(first: str, subject: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "") -> str:
    words = _inverted(subject, phrase, adverb)
    return _join(first, phrase.verb.present(subject.person), words, phrase.verb.prefix)


def _perfect(first: str, subject: GermanSubject, phrase: GermanVerbPhrase, words: str) -> str:
    return _join(first, phrase.verb.auxiliary().present(subject.person), words, phrase.verb.participle())


def _subordinate(subject: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "") -> str:
    finite = phrase.verb.prefix + phrase.verb.present(subject.person)
    return _join(subject.german, _words(subject, phrase, adverb), finite)


def _imperative(you: GermanSubject, phrase: GermanVerbPhrase, adverb: str = "", negated: bool = False) -> str:
    verb = phrase.verb.imperative(you.person) + (" Sie" if you is _SIE else "")
    return _join(verb, _words(you, phrase, adverb, negated), phrase.verb.prefix)


def _conjugated(verb: str, subject: GermanSubject) -> str:
    return GermanVerb("", verb).present(subject.person)


_TIMES = read_lists(_FOLDER / "times.tsv", lambda row: (row["german"], row["english"], row.get("place", "")))
_MODALS = (
    ("können", "can", "can't"), ("müssen", "have to", "don't have to"), ("wollen", "want to", "don't want to"),
    ("dürfen", "be allowed to", "not be allowed to"), ("sollen", "be supposed to", "not be supposed to"),
    ("möchten", "would like to", "wouldn't like to"),
)  # fmt: skip


def habit(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, position = rng.choice(_TIMES["habit"])
    source = _main(subject, phrase, adverb)
    verb = _present_english(subject, phrase)
    if position == "before":
        return _sentence(source, _join(subject.english, translation, verb))
    return _sentence(source, _join(subject.english, verb, translation))


def fronted(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation = rng.choice(
        (("Jeden Tag", "Every day"), ("Am Wochenende", "On weekends"), ("Manchmal", "Sometimes"),
         ("Normalerweise", "Normally"))
    )  # fmt: skip
    source = _inverted_main(adverb, subject, phrase)
    return _sentence(source, f"{translation}, {subject.english} {_present_english(subject, phrase)}")


def question(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, position = rng.choice(
        [habit for habit in _TIMES["habit"] if habit[0] not in ("nie", "selten", "manchmal")]
    )
    source = _inverted_main("", subject, phrase, adverb)
    text = _english(subject, phrase)
    target = _join(
        _do(subject), subject.english, *((translation, text) if position == "before" else (text, translation))
    )
    return _sentence(source, target, "?")


def w_question(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    word, translation = rng.choice(
        [("Warum", "Why"), ("Wie oft", "How often")] + [("Wann", "When")] * bool(phrase.negated)
    )
    source = _inverted_main(word, subject, phrase)
    return _sentence(source, _join(translation, _do(subject), subject.english, _english(subject, phrase)), "?")


def negative(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    source = _main(subject, phrase, negated=True)
    return _sentence(source, f"{subject.english} {_do(subject)}n't {_english(subject, phrase)}")


def perfect(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, _ = rng.choice(_TIMES["past"])
    source = _perfect(subject.german, subject, phrase, _words(subject, phrase, adverb))
    return _sentence(source, f"{subject.english} {english.past_tense(_english(subject, phrase))} {translation}")


def fronted_perfect(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, _ = rng.choice(_TIMES["past"])
    source = _perfect(adverb, subject, phrase, _inverted(subject, phrase))
    return _sentence(source, f"{translation}, {subject.english} {english.past_tense(_english(subject, phrase))}")


def perfect_question(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, _ = rng.choice((*_TIMES["past"], ("schon", "already", "")))
    source = _perfect("", subject, phrase, _inverted(subject, phrase, adverb))
    text = _english(subject, phrase)
    if adverb == "schon":
        return _sentence(
            source, f"{_agreeing(subject, 'have')} {subject.english} already {english.participle(text)}", "?"
        )
    return _sentence(source, f"Did {subject.english} {text} {translation}", "?")


def why_perfect(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    word, translation = rng.choice([("Warum", "Why")] + [("Wann", "When")] * bool(phrase.negated))
    source = _perfect(word, subject, phrase, _inverted(subject, phrase))
    return _sentence(source, f"{translation} did {subject.english} {_english(subject, phrase)}", "?")


def negative_perfect(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    source = _perfect(subject.german, subject, phrase, _words(subject, phrase, negated=True))
    return _sentence(source, f"{subject.english} didn't {_english(subject, phrase)}")


def future(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation, _ = rng.choice(_TIMES["future"])
    if rng.random() < 0.5:
        werden = _conjugated("werden", subject)
        source = _join(subject.german, werden, _words(subject, phrase, adverb), phrase.verb.infinitive())
    else:
        source = _main(subject, phrase, adverb)
    return _sentence(source, f"{subject.english} will {_english(subject, phrase)} {translation}")


def modal(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    verb, translation, _ = rng.choice(_MODALS)
    source = _join(subject.german, _conjugated(verb, subject), _words(subject, phrase), phrase.verb.infinitive())
    return _sentence(source, _join(subject.english, _modal(subject, translation), _english(subject, phrase)))


def _modal(subject: GermanSubject, translation: str) -> str:
    if translation.startswith("be "):
        return _be(subject) + translation[2:]
    if subject.english_person == 2:
        return {"have to": "has to", "want to": "wants to"}.get(translation, translation)
    return translation


def negative_modal(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    verb, _, translation = rng.choice(_MODALS[:5])
    if translation.startswith("not be"):
        translation = f"{_be(subject)} not {translation[7:]}"
    elif subject.english_person == 2:
        translation = translation.replace("don't", "doesn't")
    words = _words(subject, phrase, negated=True)
    source = _join(subject.german, _conjugated(verb, subject), words, phrase.verb.infinitive())
    return _sentence(source, _join(subject.english, translation, _english(subject, phrase)))


def modal_question(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    verb = rng.choice(("können", "müssen") if _includes_speaker(subject) else ("können", "müssen", "wollen", "möchten"))
    source = _join(_conjugated(verb, subject), _inverted(subject, phrase), phrase.verb.infinitive())
    text = _english(subject, phrase)
    do = _do(subject)
    target = {
        "können": f"can {subject.english} {text}",
        "müssen": f"{do} {subject.english} have to {text}",
        "wollen": f"{do} {subject.english} want to {text}",
        "möchten": f"would {subject.english} like to {text}",
    }[verb]
    return _sentence(source, target, "?")


def imperative(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    you, please = rng.choice((_DU, _IHR, _SIE)), rng.random() < 0.5
    text = _english(you, phrase)
    source = _imperative(you, phrase, "bitte" if please else "")
    return _sentence(source, f"please {text}" if please else text, "!")


def negative_imperative(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    you = rng.choice((_DU, _IHR, _SIE))
    return _sentence(_imperative(you, phrase, negated=True), f"Don't {_english(you, phrase)}", "!")


def suggestion(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    if rng.random() < 0.5 and not phrase.reflexive:
        source = _join("Lass uns", _words(_WIR, phrase), phrase.verb.infinitive())
        return _sentence(source, f"Let's {_english(_WIR, phrase)}", "!")
    source = _join("Wollen wir", _words(_WIR, phrase), phrase.verb.infinitive())
    return _sentence(source, f"Shall we {_english(_WIR, phrase)}", "?")


def that_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    main, translation = rng.choice(
        (("Ich glaube, dass", "I think that"), ("Ich weiß, dass", "I know that"),
         ("Es ist gut, dass", "It's good that"), ("Sie sagt, dass", "She says that"),
         ("Ich bin froh, dass", "I'm glad that"))
    )  # fmt: skip
    adverb, adverb_translation, position = rng.choice(_TIMES["habit"])
    source = f"{main} {_subordinate(subject, phrase, adverb)}"
    verb = _present_english(subject, phrase)
    ending = (adverb_translation, verb) if position == "before" else (verb, adverb_translation)
    return _sentence(source, _join(translation, subject.english, *ending))


def because_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    if rng.random() < 0.5:
        main = _join(subject.german, _conjugated("haben", subject), "keine Zeit")
        translation = f"{subject.english} {_do(subject)}n't have time"
    else:
        main = _join(subject.german, _conjugated("kommen", subject), "heute nicht")
        translation = f"{subject.english} {_be(subject)} not coming today"
    must = _conjugated("müssen", subject)
    clause = _join(subject.pronoun, _words(subject, phrase), phrase.verb.infinitive(), must)
    have_to = _agreeing(subject, "have to")
    return _sentence(
        f"{main}, weil {clause}",
        f"{translation} because {subject.english_pronoun} {have_to} {_english(subject, phrase)}",
    )


def if_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    second, translation = rng.choice(
        (("bin ich glücklich", "I'm happy"), ("komme ich mit", "I'll come along"),
         ("bleibe ich zu Hause", "I'll stay home"),
         ("freut sich Oma", "Grandma will be happy"), ("helfe ich gern", "I'll be glad to help"))
    )  # fmt: skip
    conjunction = "When" if translation == "I'm happy" else "If"
    return _sentence(
        f"Wenn {_subordinate(subject, phrase)}, {second}",
        f"{conjunction} {subject.english} {_present_english(subject, phrase)}, {translation}",
    )


def whether_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair | None:
    if not _is_third_person(subject):
        return None
    auxiliary = phrase.verb.auxiliary().present(subject.person)
    clause = _join(subject.german, _words(subject, phrase), phrase.verb.participle(), auxiliary)
    main, translation = rng.choice(
        (("Ich weiß nicht, ob", "I don't know if"), ("Weißt du, warum", "Do you know why"),
         ("Ich frage mich, warum", "I wonder why"))
    )  # fmt: skip
    end = "?" if main.startswith("Weißt") else "."
    return _sentence(
        f"{main} {clause}", f"{translation} {subject.english} {english.past_tense(_english(subject, phrase))}", end
    )


def infinitive(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    verb, after, translation = rng.choice(
        (("haben", " keine Lust,", "don't feel like"), ("haben", " vergessen,", "forgot"),
         ("haben", " keine Zeit,", "don't have time"), ("versuchen", ",", "are trying"),
         ("haben", " vor,", "are planning"), ("haben", " beschlossen,", "decided"))
    )  # fmt: skip
    start = f"{subject.german} {_conjugated(verb, subject)}{after}"
    source = _join(start, _words(subject, phrase), phrase.verb.infinitive(zu=True))
    text = _english(subject, phrase)
    if translation.startswith("are"):
        translation = _be(subject) + translation[3:]
    elif subject.english_person == 2:
        translation = translation.replace("don't", "doesn't")
    text = english.progressive(text) if translation.endswith("like") else f"to {text}"
    return _sentence(source, f"{subject.english} {translation} {text}")


def like(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    source = _main(subject, phrase, "gern")
    return _sentence(source, f"{subject.english} {_agreeing(subject, 'like')} to {_english(subject, phrase)}")


def preterite(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair | None:
    if subject.person in (1, 4):
        return None
    adverb, translation = rng.choice((("dann", "Then"), ("früher", ""), ("im Urlaub", "On vacation")))
    source = _join(adverb, phrase.verb.preterite(subject.person), _inverted(subject, phrase), phrase.verb.prefix)
    text = _english(subject, phrase)
    if not translation:
        return _sentence(source, f"{subject.english} used to {text}")
    return _sentence(source, f"{translation}, {subject.english} {english.past_tense(text)}")


def before_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    eat = _conjugated("essen", subject)
    verb = _agreeing(subject, "eat")
    return _sentence(
        f"Bevor {_subordinate(subject, phrase)}, {eat} {subject.pronoun} etwas",
        f"Before {subject.english} {_present_english(subject, phrase)}, {subject.english_pronoun} {verb} something",
    )


def while_clause(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    main, translation = rng.choice((("schläft das Baby", "the baby is sleeping"), ("regnet es", "it's raining")))
    return _sentence(
        f"Während {_subordinate(subject, phrase)}, {main}",
        f"While {subject.english} {_be(subject)} {english.progressive(_english(subject, phrase))}, {translation}",
    )


def now(subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random) -> SentencePair:
    adverb, translation = rng.choice((("gerade", "right now"), ("jetzt", "now")))
    source = _main(subject, phrase, adverb)
    return _sentence(
        source, f"{subject.english} {_be(subject)} {english.progressive(_english(subject, phrase))} {translation}"
    )


Scheme = Callable[[GermanSubject, GermanVerbPhrase, random.Random], SentencePair | None]
SCHEMES: tuple[Scheme, ...] = (
    habit, fronted, question, w_question, negative, perfect, fronted_perfect, perfect_question, why_perfect,
    negative_perfect, future, modal, negative_modal, modal_question, imperative, negative_imperative, suggestion,
    that_clause, because_clause, if_clause, whether_clause, infinitive, like, preterite, before_clause,
    while_clause, now,
)  # fmt: skip


_SCHEMES_ABOUT_OTHERS = (question, w_question, perfect_question, why_perfect, if_clause)
_NEGATIVE_SCHEMES = (negative, negative_perfect, negative_modal, negative_imperative)


def make_clause(
    scheme: Scheme, subject: GermanSubject, phrase: GermanVerbPhrase, rng: random.Random
) -> SentencePair | None:
    """Return the sentence pair of a scheme, or None where nobody would say it.

    "Sie essen." could mean "You are eating." or "They are eating."; only the pair with "they" is returned.
    """
    if scheme in _SCHEMES_ABOUT_OTHERS and _includes_speaker(subject):
        return None
    if scheme in _NEGATIVE_SCHEMES and not phrase.negated:
        return None
    pair = scheme(subject, phrase, rng)
    is_ambiguous = pair and subject is _SIE and pair[0].startswith("Sie ") and " Ihr" not in pair[0]
    return None if is_ambiguous else pair
