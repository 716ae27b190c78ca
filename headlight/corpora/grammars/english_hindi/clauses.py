"""Verbs in both languages, and the order of the words around them.

English: [do] subject [not] verb object phrases time. Hindi: subject time phrases object [नहीं] verb.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from headlight.corpora.gold import GoldWord
from headlight.corpora.grammars.english_hindi.phrases import BilingualText, HindiPhrase
from headlight.corpora.grammars.hindi import BE, HindiAgreement, Stem, inflected, is_, was

Tense = Literal[
    "present", "progressive", "past", "past progressive", "past habit", "perfect", "past perfect", "future",
    "can", "should", "want", "have to",
]  # fmt: skip
# In perfective tenses the Hindi subject takes ने, in those of obligation को; the verb does not agree with it then.
PERFECTIVE_TENSES, OBLIGATION_TENSES = ("past", "perfect", "past perfect"), ("should", "have to")


class Mood(NamedTuple):
    """Whether a clause is negated or a question: `question` is "" in a statement, "whether", or the question word."""

    negative: bool = False
    question: str = ""


class EnglishVerb(NamedTuple):
    """The words of a verb in order: does not [want] [to eat]. A question puts `auxiliary` before the subject."""

    auxiliary: tuple[GoldWord, ...]
    negation: tuple[GoldWord, ...]
    modal: tuple[GoldWord, ...]
    main: tuple[GoldWord, ...]


def _words(text: str) -> tuple[GoldWord, ...]:
    return tuple(GoldWord(word) for word in text.split())


def english_verb(forms: Sequence[str], tense: Tense, subject: HindiPhrase, mood: Mood) -> EnglishVerb:
    """Return the verb of a clause; `forms` are base, third person, past, participle and -ing."""
    negative, inverted = mood.negative, mood.question not in ("", "who")
    base, third, past, participle, ing = forms
    singular = subject.pronoun in ("he", "she", "it")
    modal = ""
    if tense in ("present", "past", "want", "have to"):
        do = "did" if tense == "past" else "does" if singular else "do"
        helped = negative or inverted
        auxiliary = do if helped else ""
        main = base if helped else past if tense == "past" else third if singular else base
        if tense in ("want", "have to"):
            verb = ("wants", "want") if tense == "want" else ("has", "have")
            modal, main = verb[0 if singular and not helped else 1], f"to {base}"
    elif tense == "past habit":
        auxiliary, modal, main = "", "used to", base
    elif tense in ("progressive", "past progressive"):
        auxiliary, main = be(subject, tense == "past progressive"), ing
    elif tense in ("perfect", "past perfect"):
        auxiliary, main = "had" if tense == "past perfect" else "has" if singular else "have", participle
    else:
        auxiliary, main = {"future": "will"}.get(tense, tense), base
    if auxiliary == "can" and negative and not inverted:
        cannot = _words("cannot")
        return EnglishVerb(cannot, (), (), _words(main))
    return EnglishVerb(_words(auxiliary), _words("not" if negative else ""), _words(modal), _words(main))


def be(subject: HindiPhrase, past: bool) -> str:
    if past:
        return "was" if subject.pronoun in ("I", "he", "she", "it") else "were"
    return "am" if subject.pronoun == "I" else "is" if subject.pronoun in ("he", "she", "it") else "are"


def english_be(tense: Tense, subject: HindiPhrase, negative: bool = False) -> EnglishVerb:
    auxiliary, main = ("will", "be") if tense == "future" else (be(subject, tense == "past"), "")
    return EnglishVerb(_words(auxiliary), _words("not" if negative else ""), (), _words(main))


def hindi_verb(
    stem: Stem, tense: Tense, agreement: HindiAgreement, english: EnglishVerb, main: Sequence[GoldWord] | None = None
) -> list[GoldWord]:
    """Return the verb and its auxiliaries; no word of the English verb is left without a counterpart.

    `main` are the words that the verb itself translates, by default the English verb.
    """
    of_main = tuple(english.main if main is None else main)
    of_modal = english.modal or english.auxiliary
    of_auxiliary = english.auxiliary or english.modal or of_main
    hindi_parts: list[tuple[str, tuple[GoldWord, ...]]]
    if stem is BE:
        text = {"present": is_, "past": was, "future": BE.future}[tense](agreement)
        hindi_parts = [(text, english.auxiliary + english.modal + of_main)]
    elif tense in ("present", "past habit"):
        auxiliary = is_ if tense == "present" else was
        hindi_parts = [(stem.imperfective(agreement), of_main), (auxiliary(agreement), of_auxiliary)]
    elif tense in ("progressive", "past progressive"):
        auxiliary = is_ if tense == "progressive" else was
        auxiliaries = (inflected("रहा", agreement), of_main), (auxiliary(agreement), of_auxiliary)
        hindi_parts = [(stem.text, of_main), *auxiliaries]
    elif tense == "past":
        hindi_parts = [(stem.perfective(agreement, alone=True), of_main)]
    elif tense in ("perfect", "past perfect"):
        auxiliary = is_ if tense == "perfect" else was
        hindi_parts = [(stem.perfective(agreement, alone=False), of_main), (auxiliary(agreement), of_auxiliary)]
    elif tense == "future":
        hindi_parts = [(stem.future(agreement), of_main)]
    elif tense == "can":
        able = Stem("सक").imperfective(agreement)
        hindi_parts = [(stem.text, of_main), (able, of_modal), (is_(agreement), of_auxiliary)]
    elif tense == "want":
        wish = Stem("चाह").imperfective(agreement)
        hindi_parts = [(stem.infinitive(), of_main), (wish, of_modal), (is_(agreement), of_auxiliary)]
    elif tense == "should":
        hindi_parts = [(stem.infinitive(agreement), of_main), ("चाहिए", of_modal)]
    else:
        hindi_parts = [(stem.infinitive(agreement), of_main), (is_(agreement), of_auxiliary)]
    last, origin = hindi_parts[-1]
    counterparts = {word for _, of in hindi_parts for word in of}
    left = [word for word in (*english.auxiliary, *english.modal, *english.main) if word not in counterparts]
    return [GoldWord(text, of) for text, of in hindi_parts[:-1]] + [GoldWord(last, (*origin, *left))]


def empty_text() -> BilingualText:
    return BilingualText([], [])


@dataclass
class Clause:
    """The parts of a sentence in both languages, before they are put into an order."""

    subject: BilingualText
    verb: EnglishVerb
    verb_hindi: list[GoldWord]
    object: BilingualText = field(default_factory=empty_text)
    nominal: list[GoldWord] = field(default_factory=list)  # what नहीं follows: काम करना, पसंद होना
    bound: bool = False  # a question word comes after the nominal: मदद कौन करेगा, but कौन बंद करेगा
    frequency: BilingualText = field(default_factory=empty_text)  # "often", before the English verb
    phrases: BilingualText = field(default_factory=empty_text)  # after the English object, before the Hindi one
    opening: BilingualText = field(default_factory=empty_text)  # before everything else

    @property
    def _refusal(self) -> list[GoldWord]:
        """The word नहीं for "not", "cannot" and "never"."""
        words = (*self.verb.negation, *self.verb.auxiliary, *self.frequency.english)
        refusing = tuple(word for word in words if word.text in ("not", "cannot", "never"))
        return [GoldWord("नहीं", refusing)] if refusing else []

    @property
    def _after_auxiliary(self) -> list[GoldWord]:
        verb, often = self.verb, self.frequency.english
        return [*verb.negation, *often, *verb.modal, *verb.main, *self.object.english, *self.phrases.english]

    @property
    def _circumstances(self) -> list[GoldWord]:
        return [*self.frequency.hindi, *self.phrases.hindi]

    @property
    def _predicate(self) -> list[GoldWord]:
        return [*self.object.hindi, *self.nominal, *self._refusal, *self.verb_hindi]

    def statement(self) -> BilingualText:
        return BilingualText(
            [*self.opening.english, *self.subject.english, *self.verb.auxiliary, *self._after_auxiliary],
            [*self.opening.hindi, *self.subject.hindi, *self._circumstances, *self._predicate],
        )

    def whether(self) -> BilingualText:
        """Return a yes-or-no question: क्या translates the auxiliary that comes first."""
        return BilingualText(
            [*self.verb.auxiliary, *self.subject.english, *self._after_auxiliary],
            [GoldWord("क्या", self.verb.auxiliary), *self.subject.hindi, *self._circumstances, *self._predicate],
        )

    def ask_for(self, english: str, hindi: str) -> BilingualText:
        """Build "Where does Ram read the book?" as "राम किताब कहाँ पढ़ता है?": the question word comes late in Hindi."""
        word = GoldWord(english)
        answer = [GoldWord(hindi, (word,))]
        complements = [*self.nominal, *answer] if self.bound else [*answer, *self.nominal]
        return BilingualText(
            [word, *self.verb.auxiliary, *self.subject.english, *self._after_auxiliary],
            [
                *self.subject.hindi,
                *self._circumstances,
                *self.object.hindi,
                *complements,
                *self._refusal,
                *self.verb_hindi,
            ],
        )

    def ask_for_object(self) -> BilingualText:
        """Build "Which book does Ram read?": the object of the question comes first in English only."""
        verb = self.verb
        english = [*self.object.english, *verb.auxiliary, *self.subject.english, *verb.negation]
        return BilingualText(
            [*english, *self.frequency.english, *verb.modal, *verb.main, *self.phrases.english],
            [*self.subject.hindi, *self._circumstances, *self._predicate],
        )

    def ask_for_subject(self) -> BilingualText:
        """Build "Who read the book?" as "किताब किसने पढ़ी?"."""
        who, nominal = self.subject.hindi, self.nominal
        complements = [*nominal, *who] if self.bound else [*who, *nominal]
        return BilingualText(
            [*self.subject.english, *self.verb.auxiliary, *self._after_auxiliary],
            [*self._circumstances, *self.object.hindi, *complements, *self._refusal, *self.verb_hindi],
        )
