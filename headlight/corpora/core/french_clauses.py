"""Verb phrases in English and French in tenses, moods, negation and questions: "play football = jouer au football"."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, get_args

from headlight.corpora import english
from headlight.corpora.core.templates import SentencePair
from headlight.corpora.grammars.english_french.french import PERSONS, Conjugation, FiniteTense
from headlight.corpora.word_tables import one_of, read_lists, read_table

_POSSESSIVES = {
    "je": ("mon", "ma", "mes"),
    "tu": ("ton", "ta", "tes"),
    "il": ("son", "sa", "ses"),
    "nous": ("notre", "notre", "nos"),
    "vous": ("votre", "votre", "vos"),
    "ils": ("leur", "leur", "leurs"),
}
_REFLEXIVES = {"je": "me", "tu": "te", "il": "se", "nous": "nous", "vous": "vous", "ils": "se"}
_STRESSED_PRONOUNS = {"tu": "toi", "nous": "nous", "vous": "vous"}


class FrenchSubject(NamedTuple):
    english: str
    french: str
    person: str
    english_possessive: str
    gender: str = "m"


def _subjects(row: dict[str, str]) -> list[FrenchSubject]:
    subject = FrenchSubject(row["english"], row["french"], row["person"], row["possessive"], row["gender"])
    return [subject] * int(row["weight"])


_FOLDER = Path(__file__).parent / "en-fr"
_SUBJECTS = read_table(_FOLDER / "subjects.tsv", _subjects)
SUBJECTS = [subject for weighted in _SUBJECTS for subject in weighted]
_PRONOUNS = ("I", "you", "he", "she", "we", "they")
_SHORT_FORMS = {"am": "'m", "is": "'s", "are": "'re"}
_NEGATIONS = ("pas", "plus", "jamais", "pas encore")
_TENSES = get_args(FiniteTense)
_ETRE_VERBS = ("aller", "rester", "rentrer", "arriver", "partir")


class FrenchVerbPhrase(NamedTuple):
    english: str
    french: str
    flags: str = ""

    @property
    def verb(self) -> str:
        return self.french.removeprefix("se ").split()[0]

    @property
    def complement(self) -> str:
        return self.french.removeprefix("se ").partition(" ")[2]

    @property
    def is_reflexive(self) -> bool:
        return self.french.startswith("se ")


def read_verb_phrase(line: str) -> FrenchVerbPhrase:
    """Parse "play football = jouer au football | d"."""
    translation, _, flags = line.partition("|")
    source, target = translation.split(" = ")
    return FrenchVerbPhrase(source.strip(), target.strip(), flags.strip())


def conjugate(verb: str, tense: FiniteTense, person: str) -> str:
    """Return a verb's form in a tense without an auxiliary; `person` is "je" to "ils"."""
    return Conjugation(verb).form(tense, PERSONS.index(person))


def _possessed(text: str, person: str) -> str:
    mon, ma, mes = _POSSESSIVES[person]
    return re.sub(r"\b(MON|MA|MES)\b", lambda match: {"MON": mon, "MA": ma, "MES": mes}[match[0]], text)


def _complement(phrase: FrenchVerbPhrase, person: str, negative: bool = False) -> str:
    complement = _possessed(phrase.complement, person)
    if negative:
        complement = re.sub(r"~(de l'|de la |du |des |une |un )", "de ", complement)
    return f" {complement.replace('~', '')}" if complement else ""


def finite(
    subject: FrenchSubject, phrase: FrenchVerbPhrase, tense: FiniteTense, negation: str = "", adverb: str = ""
) -> str:
    """Return a French clause; `negation` is "pas" or "jamais", `adverb` stands after the verb."""
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    verb = conjugate(phrase.verb, tense, subject.person)
    ne = "ne " if negation else ""
    after = "".join(f" {word}" for word in (negation, adverb) if word)
    return f"{subject.french} {ne}{se}{verb}{after}{_complement(phrase, subject.person, bool(negation))}"


def perfect(subject: FrenchSubject, phrase: FrenchVerbPhrase, negation: str = "", adverb: str = "") -> str:
    """Return a French clause in the passé composé."""
    with_etre = phrase.is_reflexive or phrase.verb in _ETRE_VERBS
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    auxiliary = conjugate("être" if with_etre else "avoir", "present", subject.person)
    participle = Conjugation(phrase.verb).participle
    if with_etre and "n" not in phrase.flags:
        # "vous" is one person here.
        participle += "e" * (subject.gender == "f") + "s" * (subject.person in ("nous", "ils"))
    middle = "".join(f" {word}" for word in (negation, adverb) if word)
    ne = "ne " if negation else ""
    complement = _complement(phrase, subject.person, bool(negation))
    return f"{subject.french} {ne}{se}{auxiliary}{middle} {participle}{complement}"


def infinitive(subject: FrenchSubject, phrase: FrenchVerbPhrase, negative: bool = False) -> str:
    se = f"{_REFLEXIVES[subject.person]} " if phrase.is_reflexive else ""
    return se + phrase.verb + _complement(phrase, subject.person, negative)


def modal(subject: FrenchSubject, verb: str, tense: FiniteTense, phrase: FrenchVerbPhrase, negation: str = "") -> str:
    """Return a clause such as "je ne peux pas venir"."""
    ne, after = ("ne ", f" {negation}") if negation else ("", "")
    form = conjugate(verb, tense, subject.person)
    return f"{subject.french} {ne}{form}{after} {infinitive(subject, phrase, bool(negation))}"


def imperative(phrase: FrenchVerbPhrase, person: str, negative: bool = False) -> str:
    form = conjugate(phrase.verb, "present", person)
    if person == "tu" and form.endswith(("es", "vas")):
        form = form[:-1]
    if phrase.is_reflexive and negative:
        return f"ne {_REFLEXIVES[person]} {form} pas{_complement(phrase, person, True)}"
    if phrase.is_reflexive:
        return f"{form}-{_STRESSED_PRONOUNS[person]}{_complement(phrase, person)}"
    if negative:
        return f"ne {form} pas{_complement(phrase, person, True)}"
    return form + _complement(phrase, person)


class ClauseTemplate(NamedTuple):
    """A row of clauses.tsv, which explains the fields in braces."""

    name: str
    english: str
    french: str
    times: str  # the name of a list of times
    unsuited: frozenset[str]  # flags of verb phrases
    subjects: frozenset[str]  # those that it suits, in English
    fixed_subject: FrenchSubject | None

    def suits(self, subject: FrenchSubject, flags: set[str]) -> bool:
        return subject.english in self.subjects and self.unsuited.isdisjoint(flags)


def _clause_template(row: dict[str, str]) -> ClauseTemplate:
    names = frozenset(row.get("subjects", "not").split())
    everybody = frozenset(subject.english for subject in SUBJECTS)
    return ClauseTemplate(
        row["name"],
        row["english"],
        row["french"],
        row.get("times", ""),
        unsuited=frozenset(row.get("unsuited", "")),
        subjects=everybody - names if "not" in names else names,
        fixed_subject=next((subject for subject in SUBJECTS if subject.french == row.get("instead")), None),
    )


Scheme = tuple[ClauseTemplate, ...]  # the alternatives of a clause
_TEMPLATES = read_table(_FOLDER / "clauses.tsv", _clause_template)
SCHEMES: tuple[Scheme, ...] = tuple(tuple(rows) for _, rows in groupby(_TEMPLATES, lambda template: template.name))
_LET_US = tuple(template for template in _TEMPLATES if template.name == "let_us")
_TIMES = read_lists(_FOLDER / "times.tsv", lambda row: (row.get("english", ""), row.get("french", "")))


@dataclass
class _ClauseParts:
    subject: FrenchSubject
    phrase: FrenchVerbPhrase
    time: str = ""


class _EnglishFields(_ClauseParts):
    """The fields of the English side of a clause template."""

    def __getitem__(self, name: str) -> str:
        pronoun, is_third = self.subject.english, self.subject.person == "il"
        be = "am" if pronoun == "I" else "is" if is_third else "are"
        match name:
            case "be":
                return be
            case "was":
                return "was" if is_third or pronoun == "I" else "were"
            case "s be":
                return pronoun + (_SHORT_FORMS[be] if pronoun in _PRONOUNS else f" {be}")
            case "him":
                return {"he": "him", "she": "her", "they": "them", "we": "us"}.get(pronoun, pronoun)
            case "time":
                return f" {self.time}" if self.time else ""
        word, _, ending = name.partition("-")
        text = {"s": pronoun, "v": self.phrase.english.replace("MY", self.subject.english_possessive)}.get(word, word)
        match ending:
            case "s":
                return english.third_person(text) if is_third else text
            case "ed":
                return english.past_tense(text)
            case "en":
                return english.participle(text)
            case "ing":
                return english.progressive(text)
        return text


class _FrenchFields(_ClauseParts):
    """The fields of the French side of a clause template."""

    def __getitem__(self, name: str) -> str:
        subject, phrase = self.subject, self.phrase
        first, _, rest = name.partition(" ")
        negation, adverb = (rest, "") if rest in _NEGATIONS else ("", rest)
        match first:
            case "s":
                return subject.french
            case "si":
                return f"s'{subject.french}" if subject.french.startswith("il") else f"si {subject.french}"
            case "time":
                return f" {self.time}" if self.time else ""
            case "obligé":
                return "obligé" + "e" * (subject.gender == "f") + "s" * (subject.person in ("nous", "ils"))
            case "infinitive":
                return infinitive(subject, phrase)
            case "imperative":
                return imperative(phrase, subject.person, bool(negation))
            case "perfect":
                return perfect(subject, phrase, negation, adverb)
        if first in _TENSES:
            return finite(subject, phrase, one_of(first, *_TENSES), negation, adverb)
        if "/" in first:
            verb, _, tense = first.partition("/")
            return conjugate(verb, one_of(tense, *_TENSES), subject.person)
        tense, _, negation = rest.partition(" ")
        verb = first if first != "can" else "savoir" if "s" in phrase.flags else "pouvoir"
        return modal(subject, verb, one_of(tense, *_TENSES), phrase, negation)


def make_clause(
    scheme: Scheme, subject: FrenchSubject, phrase: FrenchVerbPhrase, rng: random.Random
) -> SentencePair | None:
    """Return a pair, or None where the scheme does not suit the verb phrase or the subject."""
    fields = _EnglishFields(subject, phrase)
    is_unclear = fields["v-s"] == fields["v-ed"]  # "I read a book" without a time is present or past
    flags = set(phrase.flags + "u" * is_unclear + "i" * ("d" not in phrase.flags))
    if not any(template.suits(subject, flags) for template in scheme):
        return None
    template = rng.choice(scheme) if len(scheme) > 1 else scheme[0]
    if not template.suits(subject, flags):
        return None
    if template.name == "to" and ("MY" in phrase.english or phrase.is_reflexive):  # nobody to be "my" or "se"
        template = rng.choice(_LET_US)
    times = _TIMES.get(f"{template.times} y" if "y" in flags else "") or _TIMES.get(template.times, [("", "")])
    if is_unclear and ("{v-s}" in template.english or "{v-ed}" in template.english):
        times = [time for time in times if time[0]]
        if not times:
            return None
    elif "l" in flags:
        times = [time for time in times if not time[0]] or times
    time = rng.choice(times) if template.times else times[0]
    subject = template.fixed_subject or subject
    return (
        template.english.format_map(_EnglishFields(subject, phrase, time[0])),
        template.french.format_map(_FrenchFields(subject, phrase, time[1])),
    )
