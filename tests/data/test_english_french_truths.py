"""What is known of the French: which word is written for which, and what a pronoun stands for."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from headlight.corpora.gold import GoldCorpus, GoldPair, split_words
from headlight.corpora.grammars.english_french import ENGLISH_FRENCH, reasons
from headlight.corpora.grammars.english_french.lexicon import NOUNS
from tests.french import BOTH_NUMBERS, NOUN, Agreement, many, tokens
from tests.grammar_samples import as_text, listed

SAMPLE = Path(__file__).parents[1] / "fixtures" / "grammars" / "english-french.txt"


@pytest.fixture(scope="module")
def pairs() -> list[GoldPair]:
    return many()


@pytest.fixture(scope="module")
def by_meaning() -> list[GoldPair]:
    rng = random.Random("meaning")
    return [reasons.by_meaning(rng) for _ in range(4_000)]


@pytest.mark.slow
def test_every_word_is_aligned(pairs: list[GoldPair]) -> None:
    for pair in pairs[:2000]:
        source, target = split_words(pair.source), split_words(pair.target)
        assert list(pair.links) == sorted(set(pair.links))
        assert {here for here, _ in pair.links} == set(range(len(source))), pair
        assert {there for _, there in pair.links} == set(range(len(target))), pair
        for here, there in pair.links:
            if source[here] in ".,?":
                assert target[there] == source[here]
            elif target[there] in ".,?":
                raise AssertionError(pair)


@pytest.mark.slow
def test_nouns_are_aligned_with_their_translations(pairs: list[GoldPair]) -> None:
    """The noun itself, seen from the tables of the lexicon, at either end of a link."""
    translations = {
        form: {split_words(noun.french.removeprefix("*"))[-1], split_words(noun.french_plural.removeprefix("*"))[-1]}
        for noun in NOUNS
        for form in (noun.english, noun.english_plural)
    }
    for pair in pairs[:2000]:
        source, target = (split_words(text.lower()) for text in (pair.source, pair.target))
        nouns = set(translations) - {"watch", "watches", "light", "play", "saw", "fish"}  # which are also verbs
        for here, word in enumerate(source):
            if word in nouns:
                assert {target[there] for each, there in pair.links if each == here} & translations[word], pair


@pytest.mark.slow
def test_pronouns_show_the_gender_of_what_they_stand_for(pairs: list[GoldPair]) -> None:
    shown = Counter[str]()
    for pair in pairs:
        source, target = split_words(pair.source), split_words(pair.target.lower())
        for each in pair.pronouns:
            assert source[each.word] in ("it", "he", "she", "they", "him", "her", "them")
            assert each.shows == (source[each.word] in ("it", "they", "them"))  # the others tell it themselves
            assert each.antecedent < each.word
            heads = [target[there] for here, there in pair.links if here == each.antecedent]
            gender, number = agreement_of(heads[-1], source[each.word] in ("they", "them"))
            form = target[each.written]
            if form in ("il", "ils", "le"):
                assert gender == "m", pair
            elif form in ("elle", "elles", "la"):
                assert gender == "f", pair
            else:
                assert re.search("es?$", form) is not None if gender == "f" else not form.endswith(("e", "es")), pair
            if form in ("il", "elle", "le", "la"):
                assert number == "singular"
            shown[form if form in ("il", "elle", "ils", "elles", "le", "la") else "participle"] += 1
    assert min(shown.values()) > 20 and len(shown) == 7


def agreement_of(noun: str, several: bool) -> Agreement:
    if noun in ("père", "pères"):  # the end of "grand-père"
        return "m", "plural" if several else "singular"
    if noun in ("mère", "mères"):
        return "f", "plural" if several else "singular"
    return (BOTH_NUMBERS[noun], "plural" if several else "singular") if noun in BOTH_NUMBERS else NOUN[noun]


def test_no_shortcut_finds_the_antecedent(by_meaning: list[GoldPair]) -> None:
    """Subject or object, masculine or feminine: each guess is right half the time, and so is each pair of them."""
    cases, differ = Counter[tuple[bool, str]](), 0
    reasons_of: dict[str, Counter[bool]] = {}
    forms = {split_words(form)[-1]: noun.gender for noun in NOUNS for form in (noun.english, noun.english_plural)}
    for pair in by_meaning:
        source = split_words(pair.source.lower())
        (gold,) = pair.pronouns
        places = [place for place, word in enumerate(source[: gold.word]) if word in forms]
        subject, object = places[0], places[-1]
        assert gold.antecedent in (subject, object)
        of_subject = gold.antecedent == subject
        cases[of_subject, forms[source[gold.antecedent]]] += 1
        differ += forms[source[subject]] != forms[source[object]]
        (reason,) = (name.split("+")[-1] for name in pair.combinations if name.startswith("antecedent+reason"))
        reasons_of.setdefault(reason, Counter())[of_subject] += 1
    assert len(cases) == 4
    assert all(0.23 < count / len(by_meaning) < 0.27 for count in cases.values())
    assert differ > 0.85 * len(by_meaning)
    # Nor does the adjective alone tell, without the nouns: who is tired may be the subject or the object.
    assert sum(max(count.values()) for count in reasons_of.values()) < 0.78 * len(by_meaning)


def test_either_noun_could_be_meant_by_the_pronoun_alone(by_meaning: list[GoldPair]) -> None:
    with_pronoun = 0
    for pair in by_meaning:
        assert re.search(r"\b(it|they) (was|were|is|are)\b", pair.source)
        assert not re.search(r"\b(he|she)\b", pair.source)
        with_pronoun += " it " in pair.source or " they " in pair.source
    assert with_pronoun == len(by_meaning)


def test_many_nouns_and_reasons_take_part(by_meaning: list[GoldPair]) -> None:
    pairs = {name.split(": ")[1] for pair in by_meaning for name in pair.combinations if name.startswith("antecedent")}
    assert len({pair.split("+")[0] for pair in pairs}) > 100
    assert len({pair.split("+")[1] for pair in pairs}) > 40
    assert len(pairs) > 800


def test_what_is_loved_is_known(pairs: list[GoldPair]) -> None:
    """ "Aime le lait", not "aime du lait", nor "n'aime pas de lait"; "toujours" beside it would be "still"."""
    loved, nothing = 0, (".", "?")  # "l'a aimé", "qu'est-ce que Paul aime ?"
    for pair in pairs:
        target = [word for word in tokens(pair.target) if word not in ("pas", "'")]
        for word, following in zip(target, target[1:], strict=False):
            if re.fullmatch("aim(e|ons|ez|ent|er(ai|a|ons|ez|ont)|ée?s?)", word) and following not in nothing:
                known = set(listed("le la l les ce cet cette ces mon ma mes votre vos son sa ses notre nos leur leurs"))
                assert following in known, pair.target
                loved += 1
    assert loved > 50


def test_a_negated_adverb_has_no_indefinite_object(pairs: list[GoldPair]) -> None:
    """ "Ne lit pas souvent la lettre": "pas souvent de lettre" would be odd."""
    negated = [pair.target for pair in pairs if re.search(r"\bpas (souvent|toujours)\b", pair.target)]
    assert len(negated) > 50
    for target in negated:
        assert not re.search(r"\b(souvent|toujours) (de |d'|deux|trois|quatre)", target), target


def test_every_construction_is_written(pairs: list[GoldPair]) -> None:
    targets, sources = "\n".join(pair.target for pair in pairs), "\n".join(pair.source for pair in pairs)
    for expected in (
        " lui a ", "m'a ", "nous a ", " voulait ", " n'a pas pu ", " ne peut pas ", " de l'eau", "pas d'", "Il y a ",
        "Il y avait ", "est arrivée", "sont tombées", " de grands ", " bel ", " vieil ", " nouvel ", "cet ",
        " en panne", "avait très faim", "Demain, ", " la semaine prochaine", " souvent ", "l'a mangée", "les a ",
        ", alors ", ", mais ",
    ):  # fmt: skip
        assert expected in targets, expected
    for expected in (
        "didn't", "doesn't", "won't", "couldn't", "any ", "some ", "There were", "Why didn't", " her ", " them",
    ):  # fmt: skip
        assert expected in sources, expected


@pytest.mark.slow
def test_the_sample_for_readers_is_what_the_grammar_writes() -> None:
    pairs = GoldCorpus(ENGLISH_FRENCH, "test", 200).gold()
    assert SAMPLE.read_text(encoding="utf-8") == as_text(pairs), f"write {SAMPLE.name} again, and read it"
