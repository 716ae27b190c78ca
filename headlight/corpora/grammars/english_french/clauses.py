"""Clauses: a verb with its subject and object in both languages, in any tense, negative, or a question."""

from dataclasses import dataclass
from typing import Literal

from headlight.corpora import english
from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_french.french import AVOIR, ETRE, IL, Conjugation, Tense
from headlight.corpora.grammars.english_french.lexicon import CAN, WANT, FrenchVerb, Quality
from headlight.corpora.grammars.english_french.phrases import Bilingual, FrenchPhrase, agreeing

Mode = Literal["can't", "couldn't", "doesn't want to", "didn't want to", "wanted to"]

_AUXILIARIES = {"present": ("do", "does"), "past": ("did", "did"), "future": ("will", "will")}
_NEGATED_AUXILIARIES = {"do": "don't", "does": "doesn't", "did": "didn't", "will": "won't"}


@dataclass(frozen=True)
class VerbForm:
    tense: Tense
    negative: bool = False
    question: bool = False  # with "est-ce que"


def clause(
    subject: FrenchPhrase,
    verb: FrenchVerb,
    form: VerbForm,
    *,
    object: Bilingual | None = None,
    clitic: FrenchPhrase | None = None,
    adverb: Bilingual | None = None,
) -> Bilingual:
    """Write a clause such as "The girl didn't eat it", "La fille ne l'a pas mangée".

    `object` comes after the verb in both languages; `clitic` is a pronoun, which French puts before the verb; the
    participle agrees with one that is a direct object. `adverb` is "often", which French puts after the verb.
    """
    third, tense = subject.person == IL, form.tense
    auxiliary = GoldWord(_AUXILIARIES[tense][third])
    if form.negative:
        auxiliary.text = _NEGATED_AUXILIARIES[auxiliary.text]
    main = GoldWord(verb.english)
    helped = form.negative or form.question or tense == "future"
    if not helped:
        main.text = verb.past if tense == "past" else english.third_person(verb.english) if third else verb.english
    particle = [GoldWord(verb.particle)] if verb.particle else []

    verb_of = (main, *particle) if not verb.preposition else (main,)
    helper_of = (auxiliary,) if helped else (main,)
    finite, participle = _conjugated(verb.conjugation, tense, subject, clitic, verb_of, helper_of)
    around = (auxiliary,) if form.negative else ()
    adverbs = adverb or Bilingual()
    french = [
        *_negated(finite, around, clitic.french if clitic else []),
        *adverbs.french,
        *participle,
        *([GoldWord(verb.preposition, tuple(particle) or (main,))] if verb.preposition else []),
    ]
    first = [auxiliary] if form.question else []
    second = [auxiliary] if helped and not form.question else []
    pronoun = clitic.english if clitic else []
    predicate = Bilingual([*second, *adverbs.english, main, *particle, *pronoun], french)
    return _est_ce_que(first) + subject + predicate + (object or Bilingual())


def _est_ce_que(auxiliary: list[GoldWord]) -> Bilingual:
    """Translate the auxiliary that begins a question, "did", as "est-ce que"; nothing where there is none."""
    french_words = [GoldWord("est-ce", tuple(auxiliary)), GoldWord("que", tuple(auxiliary))] if auxiliary else []
    return Bilingual(auxiliary, french_words)


def _conjugated(
    conjugation: Conjugation,
    tense: Tense,
    subject: FrenchPhrase,
    clitic: FrenchPhrase | None,
    verb_of: tuple[GoldWord, ...],
    helper_of: tuple[GoldWord, ...],
) -> tuple[GoldWord, list[GoldWord]]:
    """Return the finite verb, and in the past the participle; `helper_of` are the English words that show the tense."""
    if tense != "past":
        of = tuple(dict.fromkeys((*helper_of, *verb_of))) if tense == "future" else verb_of
        return GoldWord(conjugation.form(tense, subject.person), of), []
    auxiliary = ETRE if conjugation.with_etre else AVOIR
    agreed = subject if conjugation.with_etre else clitic
    participle = conjugation.agreeing_participle(*((agreed.gender, agreed.is_plural) if agreed else ("m", False)))
    return GoldWord(auxiliary.form("present", subject.person), helper_of), [GoldWord(participle, verb_of)]


def _negated(finite: GoldWord, negation: tuple[GoldWord, ...], clitics: list[GoldWord]) -> list[GoldWord]:
    """Return the finite verb with the pronouns before it, and "ne" and "pas" around them."""
    if not negation:
        return [*clitics, finite]
    return [GoldWord("ne", negation), *clitics, finite, GoldWord("pas", negation)]


def modal_clause(subject: FrenchPhrase, mode: Mode, verb: FrenchVerb, object: Bilingual) -> Bilingual:
    """Write a clause such as "The animal couldn't cross the street", "L'animal n'a pas pu traverser la rue"."""
    source = [GoldWord(word) for word in mode.split()]
    if subject.person != IL:
        source[0].text = source[0].text.replace("doesn't", "don't")
    negation = () if mode == "wanted to" else (source[0],)
    to = (source[-1],) if len(source) > 1 else ()
    wanting = tuple(source[:-1])  # "didn't" and "want" are both translated by the finite verb
    participle: list[GoldWord] = []
    if mode == "can't":
        finite = GoldWord(CAN.form("present", subject.person), (source[0],))
    elif mode == "couldn't":
        finite, participle = _conjugated(CAN, "past", subject, None, (source[0],), (source[0],))
    else:
        finite = GoldWord(WANT.form("present" if mode == "doesn't want to" else "imperfect", subject.person), wanting)
    main = GoldWord(verb.english)
    particle = [GoldWord(verb.particle)] if verb.particle else []
    of = (*to, main) if verb.preposition else (*to, main, *particle)
    french = [*_negated(finite, negation, []), *participle, GoldWord(verb.conjugation.infinitive, of)]
    if verb.preposition:
        french.append(GoldWord(verb.preposition, tuple(particle) or (main,)))
    return subject + Bilingual([*source, main, *particle], french) + object


_BE_FORMS = {"present": ("are", "is"), "past": ("were", "was")}


def be_clause(
    subject: FrenchPhrase,
    form: VerbForm,
    *,
    quality: Quality | None = None,
    degree: Bilingual | None = None,
    place: Bilingual | None = None,
) -> Bilingual:
    """Write "It wasn't very hot", "Elle n'était pas très chaude", or "The key is in the box"."""
    third, tense = subject.person == IL, form.tense
    if tense == "future":
        helper = GoldWord("won't" if form.negative else "will")
        main = [GoldWord("be")]
    else:
        helper = GoldWord(_BE_FORMS[tense][third] + "n't" * form.negative)
        main = []
    takes_avoir = quality is not None and quality.takes_avoir
    conjugated = (AVOIR if takes_avoir else ETRE).form("imperfect" if tense == "past" else tense, subject.person)
    finite = GoldWord(conjugated, (helper, *main))
    french = _negated(finite, (helper,) if form.negative else (), [])
    complement = place or Bilingual()
    if quality is not None:
        english_word = GoldWord(quality.english)
        french_word = GoldWord(agreeing(quality, subject.gender, subject.is_plural), (english_word,))
        complement = (degree or Bilingual()) + Bilingual([english_word], [french_word])
    first = [helper] if form.question else []
    second = [] if form.question else [helper]
    return _est_ce_que(first) + subject + Bilingual([*second, *main], french) + complement
