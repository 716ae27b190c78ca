"""Clauses: a verb with its subject and object in both languages, negated or not, stated or asked."""

from typing import Literal

from headlight.corpora.gold import Word
from headlight.corpora.grammars import english
from headlight.corpora.grammars.english_french.french import AVOIR, ETRE, IL, Conjugation, Tense
from headlight.corpora.grammars.english_french.lexicon import CAN, WANT, Quality, Verb
from headlight.corpora.grammars.english_french.phrases import Bilingual, Phrase, agreeing

Mode = Literal["can't", "couldn't", "doesn't want to", "didn't want to", "wanted to"]

_AUXILIARIES = {"present": ("do", "does"), "past": ("did", "did"), "future": ("will", "will")}
_NEGATED = {"do": "don't", "does": "doesn't", "did": "didn't", "will": "won't"}


def clause(
    subject: Phrase,
    verb: Verb,
    tense: Tense,
    *,
    negative: bool = False,
    asked: bool = False,
    object: Bilingual | None = None,
    clitic: Phrase | None = None,
    adverb: Bilingual | None = None,
) -> Bilingual:
    """ "The girl didn't eat it", "La fille ne l'a pas mangée".

    `object` comes after the verb in both languages; `clitic` is a pronoun, which French puts before the verb; the
    participle agrees with one that is a direct object. `adverb` is "often", which French puts after the verb.
    """
    third = subject.person == IL
    auxiliary = Word(_AUXILIARIES[tense][third])
    if negative:
        auxiliary.text = _NEGATED[auxiliary.text]
    main = Word(verb.english)
    helped = negative or asked or tense == "future"
    if not helped:
        main.text = verb.past if tense == "past" else english.third_person(verb.english) if third else verb.english
    particle = [Word(verb.particle)] if verb.particle else []

    verb_of = (main, *particle) if not verb.preposition else (main,)
    helper_of = (auxiliary,) if helped else (main,)
    finite, participle = _conjugated(verb.conjugation, tense, subject, clitic, verb_of, helper_of)
    around = (auxiliary,) if negative else ()
    adverbs = adverb or Bilingual()
    french = [
        *_negated(finite, around, clitic.french if clitic else []),
        *adverbs.french,
        *participle,
        *([Word(verb.preposition, tuple(particle) or (main,))] if verb.preposition else []),
    ]
    first = [auxiliary] if asked else []
    second = [auxiliary] if helped and not asked else []
    pronoun = clitic.english if clitic else []
    predicate = Bilingual([*second, *adverbs.english, main, *particle, *pronoun], french)
    return asking(first) + subject + predicate + (object or Bilingual())


def asking(auxiliary: list[Word]) -> Bilingual:
    """ "Did" as "est-ce que"; nothing for nothing."""
    written = [Word("est-ce", tuple(auxiliary)), Word("que", tuple(auxiliary))] if auxiliary else []
    return Bilingual(auxiliary, written)


def _conjugated(
    conjugation: Conjugation,
    tense: Tense,
    subject: Phrase,
    clitic: Phrase | None,
    verb_of: tuple[Word, ...],
    helper_of: tuple[Word, ...],
) -> tuple[Word, list[Word]]:
    """The finite verb, and in the past the participle. `helper_of` is what says in English when it is."""
    if tense != "past":
        of = tuple(dict.fromkeys((*helper_of, *verb_of))) if tense == "future" else verb_of
        return Word(conjugation.form(tense, subject.person), of), []
    auxiliary = ETRE if conjugation.with_etre else AVOIR
    agreed = subject if conjugation.with_etre else clitic
    form = conjugation.agreeing_participle(*((agreed.gender, agreed.is_plural) if agreed else ("m", False)))
    return Word(auxiliary.form("present", subject.person), helper_of), [Word(form, verb_of)]


def _negated(finite: Word, negation: tuple[Word, ...], clitics: list[Word]) -> list[Word]:
    """The finite verb with the pronouns before it, and "ne" and "pas" around them."""
    if not negation:
        return [*clitics, finite]
    return [Word("ne", negation), *clitics, finite, Word("pas", negation)]


def modal_clause(subject: Phrase, mode: Mode, verb: Verb, object: Bilingual) -> Bilingual:
    """ "The animal couldn't cross the street", "L'animal n'a pas pu traverser la rue"."""
    source = [Word(word) for word in mode.split()]
    if subject.person != IL:
        source[0].text = source[0].text.replace("doesn't", "don't")
    negation = () if mode == "wanted to" else (source[0],)
    to = (source[-1],) if len(source) > 1 else ()
    wanting = tuple(source[:-1])  # "didn't" tells when, "want" what
    participle: list[Word] = []
    if mode == "can't":
        finite = Word(CAN.form("present", subject.person), (source[0],))
    elif mode == "couldn't":
        finite, participle = _conjugated(CAN, "past", subject, None, (source[0],), (source[0],))
    else:
        finite = Word(WANT.form("present" if mode == "doesn't want to" else "imperfect", subject.person), wanting)
    main = Word(verb.english)
    particle = [Word(verb.particle)] if verb.particle else []
    of = (*to, main) if verb.preposition else (*to, main, *particle)
    french = [*_negated(finite, negation, []), *participle, Word(verb.conjugation.infinitive, of)]
    if verb.preposition:
        french.append(Word(verb.preposition, tuple(particle) or (main,)))
    return subject + Bilingual([*source, main, *particle], french) + object


_BE = {"present": ("are", "is"), "past": ("were", "was")}


def be_clause(
    subject: Phrase,
    tense: Tense,
    *,
    negative: bool = False,
    asked: bool = False,
    quality: Quality | None = None,
    degree: Bilingual | None = None,
    place: Bilingual | None = None,
) -> Bilingual:
    """ "It wasn't very hot", "Elle n'était pas très chaude"; "The key is in the box", "La clé est dans la boîte"."""
    third = subject.person == IL
    if tense == "future":
        helper = Word("won't" if negative else "will")
        main = [Word("be")]
    else:
        helper = Word(_BE[tense][third] + "n't" * negative)
        main = []
    had = quality is not None and quality.had
    form = (AVOIR if had else ETRE).form("imperfect" if tense == "past" else tense, subject.person)
    finite = Word(form, (helper, *main))
    french = _negated(finite, (helper,) if negative else (), [])
    complement = place or Bilingual()
    if quality is not None:
        named = Word(quality.english)
        written = Word(agreeing(quality, subject.gender, subject.is_plural), (named,))
        complement = (degree or Bilingual()) + Bilingual([named], [written])
    first = [helper] if asked else []
    second = [] if asked else [helper]
    return asking(first) + subject + Bilingual([*second, *main], french) + complement
