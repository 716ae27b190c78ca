"""The generated English-French pairs of the core vocabulary, and the corpus of such pairs."""

import random
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from headlight.corpora import english
from headlight.corpora.about import about
from headlight.corpora.core import DEFAULT_PAIRS, CoreSentences, english_french
from headlight.corpora.core.english_french import VOCABULARY
from headlight.corpora.core.french_clauses import (
    SUBJECTS,
    FrenchSubject,
    FrenchVerbPhrase,
    conjugate,
    finite,
    imperative,
    modal,
    perfect,
    read_verb_phrase,
)
from headlight.corpora.core.french_numbers import generated_slots
from headlight.corpora.core.vocabulary import category, folded
from headlight.corpora.corpora import open_corpus, open_parts
from headlight.corpora.grammars.english_french.french import FiniteTense
from headlight.corpora.pairs import Pair

EVERYDAY = Path(__file__).parents[1] / "everyday"
SUBJECT = {subject.english: subject for subject in reversed(SUBJECTS)}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(CoreSentences("en-fr"))


def assert_distinct_and_untested(pairs: list[Pair], languages: str) -> None:
    """Check that the pairs are distinct, and that no sentence of the everyday tests is among them."""
    assert len(pairs) == len({pair[1:3] for pair in pairs}) == DEFAULT_PAIRS
    sources = {folded(pair.source) for pair in pairs}
    tables = [EVERYDAY / f"{name}.tsv" for name in (languages, f"short.{languages}")]
    tested = [row.split("\t")[0] for table in tables for row in table.read_text("utf-8").splitlines()]
    assert len(tested) == 140 and not [text for text in tested if text and folded(text) in sources]


def test_pairs_are_distinct_and_no_sentences_of_the_tests(pairs: list[Pair]) -> None:
    assert_distinct_and_untested(pairs, "en-fr")


@pytest.mark.slow
def test_a_seed_decides_what_follows_the_pairs_of_every_word(pairs: list[Pair]) -> None:
    assert len(list(CoreSentences("en-fr", 700))) == 700
    n_covering = sum(1 for _ in VOCABULARY.covering())
    again, other = (list(islice(CoreSentences("en-fr", seed=seed), n_covering + 100)) for seed in (0, 1))
    assert again == pairs[: n_covering + 100]
    assert other[:n_covering] == pairs[:n_covering] and other[n_covering:] != again[n_covering:]


def test_the_corpus_opens_by_name() -> None:
    train, validation, test = open_parts("core:en-fr:500")
    assert len(list(train)) == 500
    assert validation is test is None
    assert about("core:en-fr:500")["title"] == "English to French"
    with pytest.raises(ValueError, match="no core vocabulary 'en-xx'; choose one of en-fr, de-en"):
        open_corpus("core:en-xx")


def test_french_is_spelled_by_the_rules(pairs: list[Pair]) -> None:
    wrong = re.compile(
        r"  | [.,]|[\w'][?!]"  # spaces
        r"|\b(?:je|me|te|se|le|la|de|ne|que) [aàâeéèêiîoôuœ](?!\w* ?h)"  # elision
        r"|\b[sS]i ils?\b|\b[cC]e est\b|\b[mts]a [aeéèêio]"
        r"|\b(?:un|mon|ton|son|ce) (?:beau|nouveau|vieux) [aeéiou]"
        r"|[§*~\[\]{}|]|'[ bcdfgjklmnpqrstvwxz]",
    )
    assert [pair.target for pair in pairs if wrong.search(pair.target)] == []
    contracted = re.compile(r"\b(?:de|à) (?:le|les)\b(?! \w+(?:er|ir|re|oir)\b)")
    assert [pair.target for pair in pairs if contracted.search(pair.target)] == []


def test_english_has_the_right_articles_and_no_marks(pairs: list[Pair]) -> None:
    wrong = re.compile(r"  | [.,?!]|\ba [aeio]|\ban [bcdfgjklmnpqrstvwxyz]|[§*~\[\]{}|]|\bMY\b")
    assert [pair.source for pair in pairs if wrong.search(pair.source)] == []


def test_sentences_begin_and_end_alike_on_both_sides(pairs: list[Pair]) -> None:
    for pair in pairs:
        if pair.source[0].isupper():
            assert pair.target[0].isupper() or pair.target[0].isdigit(), pair
        if pair.source[-1] in "?!":
            assert pair.target.endswith(f" {pair.source[-1]}"), pair


@pytest.mark.slow
def test_each_word_of_the_lexicon_is_in_ten_pairs(pairs: list[Pair]) -> None:
    counts: Counter[str] = Counter()
    for pair in pairs:
        words = re.sub(r"'s\b|[^\w' -]", "", pair.source.casefold()).split()
        phrases = {" ".join(words[start : start + n]) for n in (1, 2, 3, 4) for start in range(len(words))}
        counts.update(phrases)
    for name, entries in VOCABULARY.lexicon.items():
        if name not in generated_slots():
            for entry in entries:
                phrase = re.sub(r"'s\b", "", entry.english.casefold())
                assert counts[phrase] + counts[english.pluralize(phrase)] >= 10, entry


# Words that stood in fewer than ten pairs of Tatoeba, Multi30k and the tables of everyday text, with their French.
RARE = {
    "includes": "comprend", "thus": "donc", "overall": "dans l'ensemble", "via": "via", "therefore": "donc",
    "previously": "auparavant", "users": "utilisateurs", "housing": "logement", "approximately": "environ",
    "unlike": "contrairement", "somehow": "d'une façon", "worldwide": "monde entier", "widely": "largement",
    "automatically": "automatiquement", "hopefully": "espérons", "ultimately": "en fin de compte",
    "ireland": "irlande", "israel": "israël", "theatre": "théâtre", "favourite": "préféré", "regarding": "au sujet",
}  # fmt: skip


def test_rare_words_are_in_ten_pairs_in_the_right_sense(pairs: list[Pair]) -> None:
    counts: Counter[str] = Counter()
    for pair in pairs:
        target = pair.target.casefold()
        if right := [word for word, french in RARE.items() if french in target and word in pair.source.casefold()]:
            counts.update(set(right) & set(re.findall(r"\w+", pair.source.casefold())))
    assert [word for word in RARE if counts[word] < 10] == []


def fill(frame: str, **words: str) -> tuple[str, str]:
    """Return the pair of the frame that begins so, with these English words in its slots."""
    template = next(frame_ for frame_ in VOCABULARY.frames if frame_.fill(0)[0].startswith(frame))
    lexicon = VOCABULARY.lexicon
    fixed = {
        slot: next(entry for entry in lexicon[category(slot)] if entry.english == word) for slot, word in words.items()
    }
    return VOCABULARY.fill_slots(template, random.Random(0), fixed)


@pytest.mark.parametrize(
    ("frame", "words", "source", "target"),
    [
        ("I live in [country]", {"country": "France"}, "I live in France.", "J'habite en France."),
        ("I live in [country]", {"country": "Japan"}, "I live in Japan.", "J'habite au Japon."),
        ("I live in [country]", {"country": "Cuba"}, "I live in Cuba.", "J'habite à Cuba."),
        ("I received a letter from [country]", {"country": "the United States"},
         "I received a letter from the United States.", "J'ai reçu une lettre des États-Unis."),
        ("I received a letter from [country]", {"country": "Italy"},
         "I received a letter from Italy.", "J'ai reçu une lettre d'Italie."),
        ("I received a letter from [country]", {"country": "Morocco"},
         "I received a letter from Morocco.", "J'ai reçu une lettre du Maroc."),
        ("What is the capital of [country]", {"country": "Ukraine"},
         "What is the capital of Ukraine?", "Quelle est la capitale de l'Ukraine ?"),
        ("It's [time].", {"time": "half past seven"}, "It's half past seven.", "Il est sept heures et demie."),
        ("It's [time].", {"time": "half past twelve"}, "It's half past twelve.", "Il est midi et demi."),
        ("It's [time].", {"time": "a quarter to twelve"}, "It's a quarter to twelve.", "Il est midi moins le quart."),
        ("It's [time].", {"time": "twenty to nine"}, "It's twenty to nine.", "Il est neuf heures moins vingt."),
        ("It's [time].", {"time": "6:45"}, "It's 6:45.", "Il est 6 h 45."),
        ("I'm [number] years old", {"number": "71"}, "I'm 71 years old.", "J'ai 71 ans."),
        ("I bought [a color clothes]", {"color": "brown", "clothes": "skirt"},
         "I bought a brown skirt.", "J'ai acheté une jupe marron."),
        ("I need [a quality clothes]", {"quality": "old", "clothes": "scarf"},
         "I need an old scarf.", "J'ai besoin d'une vieille écharpe."),
        ("I can see [a size animal]", {"size": "beautiful", "animal": "bird"},
         "I can see a beautiful bird in the picture.", "Je vois un bel oiseau sur l'image."),
        ("There are many [animal+]", {"animal": "hedgehog"},
         "There are many hedgehogs in this country.", "Il y a beaucoup de hérissons dans ce pays."),
        ("There isn't [a animal]", {"animal": "elephant"},
         "There isn't an elephant in the garden.", "Il n'y a pas d'éléphant dans le jardin."),
        ("Do you want some [food]", {"food": "salad"}, "Do you want some salad?", "Est-ce que tu veux de la salade ?"),
        ("I'm drinking [drink]", {"drink": "water"}, "I'm drinking water.", "Je bois de l'eau."),
        ("Give me [the thing]", {"thing": "umbrella"},
         "Give me the umbrella, please.", "Donne-moi le parapluie, s'il te plaît."),
        ("[girl] is [taller] than [boy]", {"girl": "Anna", "taller": "lazier", "boy": "Hugo"},
         "Anna is lazier than Hugo.", "Anna est plus paresseuse que Hugo."),
        ("My [relative] is a [job]", {"relative": "aunt", "job": "farmer"},
         "My aunt is a farmer.", "Ma tante est agricultrice."),
        ("My [body] hurts", {"body": "ear"}, "My ear hurts.", "J'ai mal à l'oreille."),
        ("We're going to [country] in [season]", {"country": "the Netherlands", "season": "spring"},
         "We're going to the Netherlands in spring.", "Nous allons aux Pays-Bas au printemps."),
        ("I work from [day]", {"day": "Monday", "day2": "Friday"},
         "I work from Monday to Friday.", "Je travaille du lundi au vendredi."),
        ("[The venue] is next to", {"venue": "school", "venue2": "hospital"},
         "The school is next to the hospital.", "L'école est à côté de l'hôpital."),
        ("[My color pair] are expensive", {"color": "black", "pair": "shoes"},
         "My black shoes are expensive.", "Mes chaussures noires sont chères."),
    ],
)  # fmt: skip
def test_frames_agree(frame: str, words: dict[str, str], source: str, target: str) -> None:
    assert fill(frame, **words) == (source, target)


def test_clauses_are_conjugated_negated_and_agree() -> None:
    def phrase(text: str) -> FrenchVerbPhrase:
        return read_verb_phrase(text)

    def spelled(text: str) -> str:
        return english_french.spell(text)

    eat, rise = phrase("eat an apple = manger ~une pomme"), phrase("get up early = se lever tôt")
    go, homework = phrase("go to school = aller à l'école"), phrase("do MY homework = faire MES devoirs")
    hands = phrase("wash MY hands = se laver les mains | n")
    assert spelled(finite(SUBJECT["we"], eat, "present", "pas")) == "Nous ne mangeons pas de pomme"
    assert spelled(finite(SUBJECT["I"], eat, "imperfect")) == "Je mangeais une pomme"
    assert spelled(perfect(SUBJECT["she"], rise, "pas")) == "Elle ne s'est pas levée tôt"
    assert spelled(perfect(SUBJECT["the girls"], go)) == "Les filles sont allées à l'école"
    assert spelled(perfect(SUBJECT["she"], hands)) == "Elle s'est lavé les mains"
    assert spelled(perfect(SUBJECT["I"], eat, adverb="déjà")) == "J'ai déjà mangé une pomme"
    assert spelled(modal(SUBJECT["they"], "vouloir", "present", homework)) == "Ils veulent faire leurs devoirs"
    assert spelled(modal(SUBJECT["I"], "pouvoir", "present", eat, "pas")) == "Je ne peux pas manger de pomme"
    assert spelled(imperative(rise, "tu")) == "Lève-toi tôt"
    assert spelled(imperative(go, "tu")) == "Va à l'école"
    assert spelled(imperative(eat, "tu", negative=True)) == "Ne mange pas de pomme"
    assert spelled(imperative(rise, "nous", negative=True)) == "Ne nous levons pas tôt"
    tu = FrenchSubject("you", "tu", "tu", "your")
    assert finite(tu, homework, "future") == "tu feras tes devoirs"


@pytest.mark.parametrize(
    ("verb", "tense", "person", "form"),
    [
        ("aller", "present", "ils", "vont"),
        ("acheter", "future", "je", "achèterai"),
        ("envoyer", "conditional", "nous", "enverrions"),
        ("commencer", "present", "nous", "commençons"),
        ("commencer", "imperfect", "nous", "commencions"),
        ("manger", "imperfect", "vous", "mangiez"),
        ("faire", "subjunctive", "il", "fasse"),
        ("prendre", "subjunctive", "nous", "prenions"),
        ("boire", "subjunctive", "ils", "boivent"),
        ("aller", "subjunctive", "tu", "ailles"),
        ("finir", "subjunctive", "je", "finisse"),
        ("être", "imperfect", "il", "était"),
        ("cueillir", "future", "tu", "cueilleras"),
        ("éteindre", "present", "nous", "éteignons"),
        ("sortir", "present", "je", "sors"),
        ("tenir", "future", "ils", "tiendront"),
        ("rire", "imperfect", "nous", "riions"),
    ],
)
def test_conjugation(verb: str, tense: FiniteTense, person: str, form: str) -> None:
    assert conjugate(verb, tense, person) == form


def test_all_verb_phrases_have_a_conjugation() -> None:
    for phrase in VOCABULARY.verb_phrases:
        assert phrase.verb.endswith("er") or conjugate(phrase.verb, "present", "nous").endswith(("ons", "tes", "mes"))
