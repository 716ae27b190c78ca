"""The Hindi is checked by its surface, with tables and rules of the tests' own: sentences, nouns and pronouns."""

import random
import re
import unicodedata
from collections import Counter

import pytest

from headlight.corpora.gold import GoldPair
from headlight.corpora.grammars.english_hindi import ENGLISH_HINDI
from tests.grammar_samples import as_text, listed
from tests.hindi import (
    COPULAS,
    GENDER,
    MEN,
    NOUNS,
    POSTPOSITIONS,
    SAMPLE,
    UNCHANGED,
    WOMEN,
    adjective_ending,
    clauses,
    is_adjective,
    many,
    noun_of,
    read,
    sides,
    singular,
)


@pytest.fixture(scope="module")
def pairs() -> list[GoldPair]:
    return many()[:5_000]


def test_the_text_is_in_nfc_and_in_its_alphabet(pairs: list[GoldPair]) -> None:
    for pair in pairs:
        assert unicodedata.normalize("NFC", pair.source + pair.target) == pair.source + pair.target
        assert re.fullmatch(r"[A-Z][A-Za-z' ]*[.?]", pair.source), pair.source
        assert re.fullmatch(r"[\u0900-\u0963 ]*[।?]", pair.target), pair.target
        assert "  " not in pair.source + pair.target


@pytest.mark.slow
def test_every_word_is_aligned_but_articles(pairs: list[GoldPair]) -> None:
    for pair in pairs:
        source, target, back = sides(pair)
        here, there = {link[0] for link in pair.links}, {link[1] for link in pair.links}
        assert here <= set(range(len(source))) and there == set(range(len(target))), pair
        left = [source[place] for place in range(len(source)) if place not in here]
        assert set(left) <= {"the", "a"}, pair
        for place, word in enumerate(target):
            if word == "एक":
                assert [source[origin] in ("a", "an") for origin in back[place]] == [True], pair
        assert (len(source) - 1, len(target) - 1) in pair.links
        assert list(pair.links) == sorted(set(pair.links))


def test_nouns_and_names_are_aligned_with_their_translations(pairs: list[GoldPair]) -> None:
    professions = {"शिक्षिका": "शिक्षक", "छात्रा": "छात्र", "गायिका": "गायक", "लेखिका": "लेखक"}
    professions |= {"शिक्षिकाएँ": "शिक्षक", "छात्राएँ": "छात्र", "गायिकाएँ": "गायक", "लेखिकाएँ": "लेखक"}
    checked = 0
    for pair in pairs:
        source, target, _ = sides(pair)
        for place, word in enumerate(source):
            known = NOUNS | MEN | WOMEN
            if singular(word) not in known or word in listed("play plays watch watches sweet"):
                continue
            linked = [target[there] for here, there in pair.links if here == place]
            lemmas = [professions.get(each) or (seen := noun_of(each)) and seen.lemma for each in linked]
            assert known[singular(word)] in lemmas, (pair, word)
            checked += 1
    assert checked > 5_000


def test_postpositions_have_the_oblique_case_before_them(pairs: list[GoldPair]) -> None:
    checked = 0
    for pair in pairs:
        target = read(pair.target)
        for word, following in zip(target, target[1:], strict=False):
            if following not in POSTPOSITIONS or (seen := noun_of(word)) is None:
                continue
            checked += 1
            if seen.gender == "m" and seen.lemma.endswith("ा") and seen.lemma not in UNCHANGED:
                assert word[-1] in "ेों" and not word.endswith("ा"), pair.target
            assert not word.endswith(("याँ", "ें", "एँ")), pair.target
    assert checked > 2_000


def test_pronouns_have_forms_of_their_own_before_postpositions(pairs: list[GoldPair]) -> None:
    wrong = re.compile(r"(?:^| )(?:मैं|तू|हम|आप|यह|वह|ये|वे|कौन|मुझ|उस|इस) (?:ने|को|से|का|के|की|में|पर)(?= )")
    for pair in pairs:
        assert not wrong.search(pair.target.replace("कौन से", "")), pair.target
        assert not re.search(r"(?:मुझे|उसे|हमें|उन्हें|मैंने|उसने) (?:ने|को|से|का|के|की)(?= )", pair.target), pair.target
        assert not re.search(r"(?:^| )(?:ने|को) (?:ने|को|से|में|पर)(?= )", pair.target), pair.target


def test_what_stands_before_a_noun_agrees_with_it(pairs: list[GoldPair]) -> None:
    """Adjectives, possessives and "कौन सा" in gender, number and case; this and that in number and case."""
    checked = 0
    jobs = listed("doctor farmer teacher student singer writer soldier")
    for pair in pairs:
        both = sides(pair)
        source, target, back = both
        for place in range(len(target)):
            seen = noun_of(target[place])
            if any(singular(source[here]) in jobs for here in back[place]) and target[place + 1] in (*COPULAS, "नहीं"):
                continue  # "Sita is a good doctor" agrees with Sita
            if seen is None or seen.lemma in MEN.values() or seen.lemma in WOMEN.values():
                continue
            plural, oblique = both.is_plural(place), both.is_oblique(place)
            right = "ी" if seen.gender == "f" else "े" if plural or oblique else "ा"
            before = place - 1
            while before >= 0 and is_adjective(target[before]):
                if (ending := adjective_ending(target[before])) is not None:
                    assert ending == right, (pair.target, target[before])
                    checked += 1
                before -= 1
            if before >= 0 and [source[here] for here in back[before]] in (["this"], ["that"], ["these"], ["those"]):
                near = source[back[before][0]] in ("this", "these")
                if source[back[before][0] + 1] in ("is", "are") or target[before] == "कि":
                    continue
                forms = ("इन" if plural else "इस") if oblique else ("ये" if plural else "यह")
                if not near:
                    forms = ("उन" if plural else "उस") if oblique else ("वे" if plural else "वह")
                assert target[before] == forms, (pair.target, target[before])
                checked += 1
            if before >= 1 and target[before] in ("का", "के", "की") and noun_of(target[before - 1]) is not None:
                assert target[before] == "क" + right, pair.target
    assert checked > 2_000


def test_the_subjects_own_is_apna(pairs: list[GoldPair]) -> None:
    """No मेरा beside मैं, and every अपना has a subject that it goes back to."""
    own = {"मैं": "मेर", "मैंने": "मेर", "हम": "हमार", "हमने": "हमार", "आप": "आपक", "आपने": "आपक"}
    for pair in pairs:
        for both, places in clauses(pair):
            clause = [both.target[place] for place in places]
            if clause and clause[0] in own:
                assert not any(word[:-1] == own[clause[0]] for word in clause), pair.target


def test_pronouns_point_back_to_a_noun_of_their_gender(pairs: list[GoldPair]) -> None:
    checked = Counter[str]()
    genders = Counter[str]()
    for pair in pairs:
        source, target, _ = sides(pair)
        for pronoun in pair.pronouns:
            word, antecedent, written = source[pronoun.word], source[pronoun.antecedent], target[pronoun.written]
            assert pronoun.antecedent < pronoun.word and pronoun.written < len(target)
            assert word in ("he", "she", "it", "they", "his", "her", "their"), pair
            assert singular(antecedent) in NOUNS | MEN | WOMEN, pair
            gender = GENDER[(NOUNS | MEN | WOMEN)[singular(antecedent)]]
            assert (singular(antecedent) != antecedent) == (word in ("they", "their")), pair
            if word in ("he", "his"):
                assert gender == "m"
            if word in ("she", "her"):
                assert gender == "f"
            without_gender = written in ("वह", "वे", "उसे", "उन्हें")
            if word in ("his", "her", "their"):
                assert written in ("अपना", "अपने", "अपनी") and pronoun.shows, pair
            else:
                assert pronoun.shows == (word in ("it", "they") and not without_gender), pair
                if not without_gender:
                    assert (written.removesuffix("ं")[-1] in "ीई") == (gender == "f"), pair
                    genders[f"{word} {gender}"] += 1
            checked[word] += 1
    assert all(checked[word] > 10 for word in ("he", "she", "it", "they", "his", "her", "their")), checked
    assert genders["it m"] > 75 and genders["it f"] > 50


def test_combinations_are_in_the_sentence(pairs: list[GoldPair]) -> None:
    kinds = Counter[str]()
    for pair in pairs:
        source = {singular(word) for word in read(pair.source)} | {read(pair.source)[0].lower()}
        source |= {singular(read(pair.source)[0].lower())}
        for combination in pair.combinations:
            kind, _, rest = combination.partition(": ")
            one, _, other = rest.partition("+")
            assert (other if kind == "verb+object" else one) in source, pair
            kinds[kind] += 1
    assert set(kinds) == {"noun+adjective", "verb+object", "antecedent+reason"} and min(kinds.values()) > 120


def test_the_sample_is_what_the_grammar_writes() -> None:
    rng = random.Random(2024)
    pairs = [ENGLISH_HINDI.pair(rng) for _ in range(200)]
    assert SAMPLE.read_text(encoding="utf-8") == as_text(pairs), f"write {SAMPLE.name} again, and read it"
