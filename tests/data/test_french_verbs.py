"""Verbs agree with their subjects: the French is read again from its surface, by conjugations of the test's own."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from headlight.corpora.gold import GoldPair
from headlight.corpora.grammars.english_french import french
from headlight.corpora.grammars.english_french.french import AVOIR, ETRE, Conjugation
from headlight.corpora.grammars.english_french.lexicon import CAN, VERBS, WANT
from tests.french import (
    ADJECTIVE,
    BOTH_NUMBERS,
    CONJUGATED,
    EITHER,
    NOUN,
    PLURAL_DETERMINERS,
    SINGULAR_DETERMINERS,
    WITH_ETRE,
    many,
    tokens,
)
from tests.grammar_samples import listed

CONJUGATIONS = [ETRE, AVOIR, CAN, WANT, *(verb.conjugation for verb in VERBS.values())]


@pytest.mark.parametrize("verb", CONJUGATIONS, ids=lambda verb: verb.infinitive)
def test_conjugation(verb: Conjugation) -> None:
    expected, persons = CONJUGATED[verb.infinitive], (french.JE, french.IL, french.NOUS, french.VOUS, french.ILS)
    assert [verb.form("present", person) for person in persons] == expected.present
    assert [verb.form("future", person) for person in persons] == expected.future
    if expected.imperfect:
        assert [verb.form("imperfect", person) for person in persons] == expected.imperfect
    assert verb.agreeing_participle("m", False) == expected.participle
    assert verb.with_etre == (verb.infinitive in WITH_ETRE)


def test_the_table_has_no_other_verbs() -> None:
    assert set(CONJUGATED) == {verb.infinitive for verb in CONJUGATIONS}


# What is written, read from its surface

JE, IL, NOUS, VOUS, ILS = range(5)  # the columns of the table


class Subject(NamedTuple):
    person: int
    gender: str = ""  # where the form shows it


SUBJECTS = {
    "je": Subject(JE), "j": Subject(JE), "nous": Subject(NOUS), "vous": Subject(VOUS), "qui": Subject(IL, "m"),
    "il": Subject(IL, "m"), "elle": Subject(IL, "f"), "ils": Subject(ILS, "m"), "elles": Subject(ILS, "f"),
}  # fmt: skip
SUBJECTS |= dict.fromkeys(listed("paul thomas lucas antoine"), Subject(IL, "m"))
SUBJECTS |= dict.fromkeys(listed("marie julie sophie alice"), Subject(IL, "f"))
NEEDS = {"faim", "soif", "sommeil"}  # what one has
DIRECT, OTHER_CLITICS = set(listed("le la l les")), set(listed("me m nous vous lui leur y"))

# Each finite form with its infinitive, tense and person: "suis" is of "être" and of "suivre".
FINITE: dict[str, set[tuple[str, str, int]]] = {}
PARTICIPLES: dict[str, str] = {}  # each form of it with the infinitive
for infinitive, verb in CONJUGATED.items():
    for tense in ("present", "future", "imperfect"):
        for person, form in enumerate(getattr(verb, tense)):
            FINITE.setdefault(form, set()).add((infinitive, tense, person))
    for ending in ("", "e", "s", "es"):
        PARTICIPLES[verb.participle + ending] = infinitive


def agreeing(infinitive: str, gender: str, several: bool) -> str:
    form = CONJUGATED[infinitive].participle + "e" * (gender == "f")
    return form + "s" * (several and not form.endswith("s"))


def clauses(target: str) -> Iterator[tuple[str, list[str]]]:
    """The word that joins each to the one before it, and its words without what says when before the subject."""
    joined, clause = "", []
    for word in [*tokens(target), "et"]:
        if word not in ("et", "mais", "alors", "parce"):
            clause += [word] * (word != "'")
            continue
        while "," in clause[:-1]:
            clause = clause[clause.index(",") + 1 :]
        yield joined, clause
        joined, clause = word, []


def noun_phrase(clause: list[str]) -> tuple[Subject, list[str]]:
    """The noun phrase that a clause begins with, and what follows it."""
    determiner, *rest = clause
    assert determiner in PLURAL_DETERMINERS | SINGULAR_DETERMINERS["m"] | SINGULAR_DETERMINERS["f"] | EITHER, clause
    while rest[0] in ADJECTIVE:
        rest = rest[1:]
    noun, *rest = rest
    while rest and rest[0] in ADJECTIVE:
        rest = rest[1:]
    if noun in BOTH_NUMBERS:
        return Subject(ILS if determiner in PLURAL_DETERMINERS else IL, BOTH_NUMBERS[noun]), rest
    gender, number = NOUN[noun]
    return Subject(ILS if number == "plural" else IL, gender), rest


def subject(joined: str, clause: list[str], before: Subject | None) -> tuple[Subject, list[str]]:
    """A clause's subject, and what follows it; that of "et l'a mangée" is the one of the clause `before`."""
    if before and (joined == "et" or clause[0] in ("ne", "n")):
        return before, clause
    if joined == "parce":
        clause = clause[1:]  # "que"
    if "est-ce" in clause:
        clause = clause[clause.index("est-ce") + 2 :]
    if clause[0] == "où":  # "Où sont mes clés ?"
        return noun_phrase(clause[2:])[0], clause[1:]
    return (SUBJECTS[clause[0]], clause[1:]) if clause[0] in SUBJECTS else noun_phrase(clause)


@pytest.fixture(scope="module")
def pairs() -> list[GoldPair]:
    return many()


def verb_group(rest: list[str]) -> tuple[set[str], str, str]:
    """Return the pronouns before the verb, the verb, and the next word other than "pas" and adverbs."""
    words = [word for word in rest if word not in ("ne", "n", "pas", "souvent", "toujours", "parfois")]
    place = next(place for place, word in enumerate(words) if word not in DIRECT | OTHER_CLITICS)
    return set(words[:place]), words[place], (words[place + 1 :] or [""])[0]


def test_verbs_and_participles_agree(pairs: list[GoldPair]) -> None:
    """Finite verbs with their subjects; a participle with the subject after "être", with "les" before it too."""
    seen, participles = Counter[tuple[str, str, int]](), Counter[tuple[str, str, bool]]()
    for pair in pairs:
        who: Subject | None = None
        for joined, clause in clauses(pair.target):
            who, rest = subject(joined, clause, who)
            clitics, finite, following = verb_group(rest)
            meant = {(verb, tense) for verb, tense, person in FINITE[finite] if person == who.person}
            assert meant, pair.target
            seen.update((verb, tense, who.person) for verb, tense in meant)
            verb, several = PARTICIPLES.get(following), who.person == ILS
            if verb in WITH_ETRE and meant & {("être", "present"), ("avoir", "present")}:
                assert ("être", "present") in meant and who.gender, pair.target
                assert following == agreeing(verb, who.gender, several), pair.target
                participles["être", who.gender, several] += 1
            elif ("avoir", "present") in meant and "y" not in clitics and following not in NEEDS | {"très", "trop"}:
                assert verb, pair.target
                if "les" in clitics:
                    assert following in {agreeing(verb, "m", True), agreeing(verb, "f", True)}, pair.target
                elif not clitics & DIRECT:
                    assert following == CONJUGATED[verb].participle, pair.target
                participles["avoir", "", "les" in clitics] += 1
            elif ("être", "present") in meant:
                assert verb is None or following in ADJECTIVE, pair.target  # "fermé"
    for tense, fewest in (("present", 55), ("future", 40), ("imperfect", 3)):
        for person in (IL, ILS):
            assert len([verb for verb in CONJUGATED if seen[verb, tense, person]]) >= fewest, (tense, person)
    assert len(participles) == 6 and min(participles.values()) > 20, participles
