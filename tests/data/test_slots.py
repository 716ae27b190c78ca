"""Names and numbers that are replaced on both sides of a pair, and the frames that have them."""

from __future__ import annotations

import random
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headlight.corpora import slot_words
from headlight.corpora.about import NAMES_TERMS, about
from headlight.corpora.corpora import Pair, Pairs, open_corpus, open_parts
from headlight.corpora.framed import FRAMES, fill_frame, read_frames
from headlight.corpora.number_words import day_of_month, in_words
from headlight.corpora.slot_words import (
    german_surnames,
    held_out_slots,
    read_slot_words,
    with_made_up_names,
)
from headlight.corpora.slots import Replacer, Slots, slot_languages
from headlight.runs.preparing import recipe_corpora
from headlight.runs.recipe import Recipe
from tests.small_run import MODEL, TRAINING

TABLE = Path(__file__).parent / "names.tsv"


@pytest.fixture(autouse=True)
def everyday(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(TABLE, tmp_path / "names.tsv")
    monkeypatch.setenv("HEADLIGHT_EVERYDAY", str(tmp_path))
    monkeypatch.setattr(slot_words, "MADE_UP_NAMES", 0)
    return tmp_path


def replaced(source: str, target: str, languages: str) -> list[tuple[str, str]]:
    """The pair as twenty different seeds replace its names and numbers."""
    replacer = Replacer(read_slot_words((languages[:2], languages[3:])))
    return [replacer.replace(source, target, random.Random(seed)) for seed in range(20)]


@pytest.mark.parametrize(
    "languages, source, target, pattern",
    [
        ("en-fr", "Tom lives here.", "Tom habite ici.", r"(Peter|Éric|Hans|Yves|Toms) lives here\.\n\1 habite ici\."),
        ("en-fr", "I see Mary.", "Je vois Marie.", r"I see (Anna|Hélène|Nora)\.\nJe vois \1\."),
        ("en-fr", "I think that Tom runs.", "Je pense que Tom court.",
         r"I think that (?:(Éric) runs\.\nJe pense qu'\1|(Peter|Hans|Toms) runs\.\nJe pense que \2) court\."),
        ("en-fr", "Mary's dog", "le chien de Marie", r"(?:(Anna)'s dog\nle chien d'\1|(Nora)'s dog\nle chien de \2)"),
        ("en-fr", "Anna's dog", "le chien d'Anna", r"(Nora|Mary|Marie)'s dog\nle chien de \1"),
        ("de-en", "Toms Auto ist rot.", "Tom's car is red.", r"(Peter|Éric)s Auto ist rot\.\n\1's car is red\."),
        ("en-fr", "Mr. Jackson is here.", "M. Jackson est là.",
         r"Mr\. (Miller|Dubois|Brown) is here\.\nM\. \1 est là\."),
        ("en-fr", "Do you know Tom Miller?", "Connais-tu Tom Miller ?",
         r"Do you know (Peter|Éric|Hans|Yves|Toms) (Jackson|Dubois|Brown)\?\nConnais-tu \1 \2 \?"),
        ("en-fr", "He is from London.", "Il vient de Londres.",
         r"He is from (Paris|Vienna|Athens|\w+)\.\nIl vient (de Paris|de Vienne|d'Athènes|de \w+|d'Osaka)\."),
        ("de-en", "Er kommt aus Wien.", "He comes from Vienna.", r"Er kommt aus (\w+)\.\nHe comes from (\w+)\."),
        ("en-fr", "on Monday", "lundi", r"on (Tuesday\nmardi|Friday\nvendredi)"),
        ("de-en", "am Montag", "on Monday", r"am (Dienstag\non Tuesday|Freitag\non Friday)"),
        ("en-fr", "the month of May", "le mois de mai",
         r"the month of (March\nle mois de mars|April\nle mois d'avril)"),
        ("en-fr", "He has 12 cats.", "Il a 12 chats.", r"He has (\d+) cats\.\nIl a \1 chats\."),
        ("en-fr", "in 1984", "en 1984", r"in ([12]\d\d\d)\nen \1"),
        ("en-fr", "at 8:30", "à 8 h 30", r"at (\d+):(\d\d)\nà \1 h \2"),
        ("de-en", "um 8.30 Uhr", "at 8:30", r"um (\d+)\.(\d\d) Uhr\nat \1:\2"),
    ],
)  # fmt: skip
def test_what_both_sides_have_is_replaced_on_both(languages: str, source: str, target: str, pattern: str) -> None:
    pairs = replaced(source, target, languages)
    assert all(re.fullmatch(pattern, "\n".join(pair)) for pair in pairs), pairs
    assert (source, target) not in pairs
    assert len(set(pairs)) > 1


def test_number_words_become_the_same_number() -> None:
    english, french = ({in_words(number, language): number for number in range(2, 13)} for language in ("en", "fr"))
    pairs = replaced("He has three cats at six o'clock.", "Il a trois chats à six heures.", "en-fr")
    for source, target in pairs:
        words = re.findall(
            r"He has (\w+) cats at (\w+) o'clock\.\nIl a (\w+) chats à (\w+) heures\.", f"{source}\n{target}"
        )
        assert [english[word] for word in words[0][:2]] == [french[word] for word in words[0][2:]]
        assert not {"three", "six"} <= set(words[0])
    assert len(set(pairs)) > 10
    assert all(target[0].isupper() for _, target in replaced("Three cats sleep.", "Trois chats dorment.", "en-fr"))


@pytest.mark.parametrize(
    "languages, source, target",
    [
        ("en-fr", "Tom knows Tom.", "Tom connaît Tom."),  # twice
        ("en-fr", "Tom knows him.", "Il connaît Thomas."),  # only on one side
        ("en-fr", "Alex is here.", "Alex est là."),  # of both genders
        ("en-fr", "The Tom I know.", "Le Tom que je connais."),
        ("en-fr", "I like Rose tea.", "J'aime le thé rose."),
        ("en-fr", "St. Peter", "Saint Peter"),
        ("en-fr", "São Peter", "São Peter"),
        ("en-fr", "Anna-Maria", "Anna-Maria"),
        ("en-fr", "Yes, Tom' is odd.", "Oui, Tom est bizarre."),
        ("en-fr", "Jackson is here.", "Jackson est là."),  # a surname or a first name
        ("en-fr", "one cat", "un chat"),
        ("en-fr", "I have 1 cat.", "J'ai 1 chat."),
        ("en-fr", "Is it the twenty-first?", "Est-ce le vingt et unième ?"),
        ("en-fr", "thirty-first", "trente et unième"),
        ("en-fr", "I have two hundred thousand.", "J'ai deux cent mille."),
        ("en-fr", "twenty-one girls", "vingt et une filles"),
        ("en-fr", "one or two cats", "un ou deux chats"),
        ("en-fr", "the two of us", "nous deux"),
        ("en-fr", "An 8 minute walk", "Une marche de 8 minutes"),
        ("en-fr", "1,500 people", "1 500 personnes"),
        ("en-fr", "It costs 3.50 euros.", "Cela coûte 3,50 euros."),
        ("en-fr", "It is half past six.", "Il est dix-huit heures trente."),
        ("en-fr", "twenty to seven", "vingt heures"),
        ("en-fr", "Good Friday", "Vendredi saint"),
        ("en-fr", "I may go.", "Je partirai peut-être en mai."),
        ("en-fr", "on Mondays", "le lundi"),
        ("de-en", "Es ist halb acht.", "It is half past seven."),
        ("de-en", "Es ist halb acht.", "It is half eight."),
        ("de-en", "um zwei Uhr nachmittags", "at two p.m."),
        ("en-fr", "at 8:30 in the morning", "à 8 h 30 du matin"),
        ("de-en", "ein Hund", "one dog"),
        ("de-en", "Montagmorgen", "Monday morning"),
        ("de-en", "der dritte Mann", "the third man"),
    ],
)
def test_what_is_in_doubt_is_left_alone(languages: str, source: str, target: str) -> None:
    assert set(replaced(source, target, languages)) == {(source, target)}


def corpus() -> Pairs:
    return Pairs("plain", [Pair(n, f"Tom has {n} cats.", f"Tom a {n} chats.") for n in range(1, 1001)])


def test_a_share_of_the_pairs_is_replaced_the_same_ones_for_the_same_seed() -> None:
    plain = list(corpus())
    changed = list(Slots(corpus(), 0.25, ("en", "fr"), seed=3))
    assert 0.2 < sum(a != b for a, b in zip(plain, changed, strict=True)) / 1000 < 0.3
    assert changed == list(Slots(corpus(), 0.25, ("en", "fr"), seed=3)) != list(Slots(corpus(), 0.25, ("en", "fr"), 4))
    assert plain == list(Slots(corpus(), 0.0, ("en", "fr")))


def test_what_is_held_out_is_never_drawn(everyday: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_words, "MADE_UP_NAMES", 2)
    names, numbers = held_out_slots()
    assert len(names) == len(numbers) == 200 and min(numbers) > 12 and max(numbers) < 10000
    with (everyday / "names.tsv").open("a", encoding="utf-8") as table:
        table.writelines(f"first name m\tUS\t{name}\t{name}\t{name}\t\n" for name in sorted(names))
    assert names.isdisjoint(read_slot_words(("en", "fr")).male)
    drawn = [*Slots(corpus(), 1.0, ("en", "fr")), *open_parts("slots:en-fr:2000")[0]]
    for pair in drawn:
        assert names.isdisjoint(re.findall(r"\w+", pair.target))
    generated = "\n".join(pair.source for pair in open_parts("slots:en-fr:2000")[0])
    assert numbers.isdisjoint(map(int, re.findall(r"\d+", generated)))


def test_the_texts_of_the_repository_have_no_held_out_name() -> None:
    folder = Path(slot_words.__file__).parent
    texts = [*folder.glob("phrases/*.tsv"), *folder.glob("slot_frames/*.tsv"), *folder.glob("grammars/**/*.py")]
    assert len(texts) > 4
    words = {word for text in texts for word in re.findall(r"\w+", text.read_text("utf-8"))}
    assert held_out_slots()[0].isdisjoint(words)


def test_errors_say_what_to_do(everyday: Path) -> None:
    with pytest.raises(ValueError, match="Slots are between two of en, fr, de"):
        read_slot_words(("en", "hi"))
    with pytest.raises(ValueError, match="choose slots:en-fr or slots:de-en"):
        open_parts("slots:en-hi")
    with pytest.raises(ValueError, match="languages of toy .* --slots 0|languages of reverse .* --slots 0"):
        slot_languages("reverse")
    (everyday / "names.tsv").unlink()
    with pytest.raises(ValueError, match="set HEADLIGHT_EVERYDAY to the folder"):
        open_parts("slots:en-fr")


@pytest.mark.parametrize(
    "spec, languages",
    [
        ("tatoeba:en-fr", ("en", "fr")),
        ("tatoeba:de-en + multi30k:de-en*2 + slots:de-en:500", ("de", "en")),
        ("everyday:massive:en-fr + english-french:20000", ("en", "fr")),
        ("hub:opus_books:en:fr", ("en", "fr")),
    ],
)
def test_the_languages_are_in_the_name_of_a_corpus(spec: str, languages: tuple[str, str]) -> None:
    assert slot_languages(spec) == languages


@pytest.mark.parametrize("spec", ["tatoeba:en-fr + tatoeba:de-en", "pairs.tsv", "dates"])
def test_languages_that_differ_or_are_unknown_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match="are not known, so its names and numbers cannot be replaced"):
        slot_languages(spec)


@pytest.mark.parametrize("languages", ["en-fr", "de-en"])
def test_the_frames_are_whole(languages: str) -> None:
    rows = (FRAMES / f"{languages}.tsv").read_text("utf-8").splitlines()
    assert len(rows) == len(set(rows)) >= 60
    words = read_slot_words((languages[:2], languages[3:]))
    for row in rows:
        source, target = row.split("\t")
        slots = [sorted(set(re.findall(r"\{(\w+)", side))) for side in (source, target)]
        assert slots[0] == slots[1], row
        assert source[-1] == target[-1] and source[-1] in ".!?", row
        filled = fill_frame((source, target), words, random.Random(0))
        assert "{" not in "".join(filled) and all(side[0].isupper() or side[0].isdigit() for side in filled), row
    assert ("Ich heiße {x}.", "My name is {x}.") in read_frames("de", "en")
    assert ("My name is {x}.", "Ich heiße {x}.") in read_frames("en", "de")


def test_a_person_in_a_frame_has_a_first_name_or_a_surname(everyday: Path) -> None:
    words, rng = read_slot_words(("en", "fr")), random.Random(0)
    frame = ("Ask {x} if it is raining.", "Demande à {x} s'il pleut.")
    drawn = {fill_frame(frame, words, rng)[0].split()[1] for _ in range(2000)}
    for names in (words.female, words.male, words.surnames):
        assert drawn & set(names)


def test_names_are_made_up_of_the_beginning_of_one_and_the_end_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot_words, "MADE_UP_NAMES", 20)
    names = with_made_up_names({"Sara", "Monika"}, {"Mora"})
    assert names[:2] == ("Monika", "Sara")
    assert set(names[2:]) == {"Sanika", "Saka", "Moka", "Monira", "Moninika"}
    assert with_made_up_names({"Kim"}, set()) == ("Kim",)


def test_surnames_of_german_words_are_drawn_only_with_german(everyday: Path) -> None:
    names = german_surnames()
    assert "Sommermantel" in names and names.isdisjoint(held_out_slots()[0])
    assert names <= {*read_slot_words(("de", "en")).surnames}
    assert names.isdisjoint(read_slot_words(("en", "fr")).surnames)


def test_numbers_with_equal_neighbouring_digits_are_drawn_more_often(everyday: Path) -> None:
    words, rng = read_slot_words(("en", "fr")), random.Random(0)
    drawn = [str(words.draw_number(rng, 1000, 9999, (5555,))) for _ in range(4000)]
    repeats = sum(bool(re.search(r"(\d)\1", number)) for number in drawn) / 4000
    assert 0.45 < repeats < 0.58  # 0.27 by chance
    assert "5555" not in drawn and all(1000 <= int(number) <= 9999 for number in drawn)
    assert {int(number) for number in drawn}.isdisjoint(held_out_slots()[1])


def test_the_generated_corpus_has_a_card_and_as_many_pairs_as_it_says() -> None:
    splits = open_corpus("slots:en-fr:300")
    assert splits.validation is not None
    assert len(list(splits.train)) + len(list(splits.validation)) == 300
    assert len(list(open_parts("slots:de-en:30")[0])) == 30
    assert list(open_parts("slots:en-fr:30", seed=1)[0]) != list(open_parts("slots:en-fr:30", seed=2)[0])
    card = about("slots:en-fr:300")
    assert card["title"] == "English to French" and NAMES_TERMS in card["terms"]


def test_a_recipe_replaces_in_what_is_trained_on_alone(tmp_path: Path) -> None:
    (tmp_path / "en-fr.train.tsv").write_text("".join(f"Tom has {n} cats.\tTom a {n} chats.\n" for n in range(2, 99)))
    (tmp_path / "en-fr.validation.tsv").write_text("Tom sleeps.\tTom dort.\n")
    recipe = Recipe(f"{tmp_path}:en-fr", MODEL, TRAINING, slots=0.99)
    recipe.check()
    splits = recipe_corpora(recipe)
    assert sum("Tom " in pair.source for pair in splits.train) < 10
    assert splits.validation is not None and [pair.source for pair in splits.validation] == ["Tom sleeps."]
    assert list(splits.train) == list(recipe_corpora(recipe).train)
    assert NAMES_TERMS in recipe.card()["terms"] and NAMES_TERMS not in replace(recipe, slots=0.0).card()["terms"]
    with pytest.raises(ValueError, match="names and numbers cannot be replaced"):
        replace(recipe, data="reverse").check()
    (tmp_path / "names.tsv").unlink()
    with pytest.raises(ValueError, match="set HEADLIGHT_EVERYDAY"):
        recipe.check()


@pytest.mark.parametrize(
    ("day", "spelled"),
    [
        (1, {"en": "first 1st", "fr": "premier 1er", "de": "ersten 1."}),
        (3, {"en": "third 3rd", "fr": "trois 3", "de": "dritten 3."}),
        (11, {"en": "eleventh 11th", "fr": "onze 11", "de": "elften 11."}),
        (20, {"en": "twentieth 20th", "fr": "vingt 20", "de": "zwanzigsten 20."}),
        (22, {"en": "twenty-second 22nd", "fr": "vingt-deux 22", "de": "zweiundzwanzigsten 22."}),
    ],
)
def test_the_day_of_a_date_is_spelled_as_each_language_has_it(day: int, spelled: dict[str, str]) -> None:
    for language, expected in spelled.items():
        assert " ".join(day_of_month(day, language, digits) for digits in (False, True)) == expected
