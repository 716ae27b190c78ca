"""The figures on what causes "il" and "elle", and the file that ships with them."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from headlight.analysis.why import Corruption, patching
from headlight.checkpoints import digest, load_translator
from headlight.corpora.corpora import open_split
from headlight.corpora.gold import GoldCorpus, split_words
from tools.antecedents import FILE, AntecedentQuestion, adjectives, measured, named_heads, questions, shares
from transformer import Translator
from transformer.files import read_json
from transformer.taps import Site

FOLDER = Path(__file__).parents[1] / "checkpoints" / "english-french"
HEADS = [(Site("decoder", 1, "cross"), 2), (Site("decoder", 2, "cross"), 2), (Site("encoder", 2, "self"), 1)]


@pytest.fixture(scope="module")
def model() -> Translator:
    return load_translator(FOLDER)


@pytest.fixture(scope="module")
def asked(model: Translator) -> list[AntecedentQuestion]:
    train, test = open_split("english-french", "train"), open_split("english-french", "test")
    assert isinstance(train, GoldCorpus) and isinstance(test, GoldCorpus)
    return list(islice(questions(model, test.gold(), adjectives(islice(train.gold(), 3_000))), 4))


def test_the_two_sentences_differ_in_one_word_and_their_translations_in_the_pronoun(
    model: Translator, asked: list[AntecedentQuestion]
) -> None:
    for one in asked:
        here, there = split_words(one.text), split_words(one.corrupted)
        assert [a != b for a, b in zip(here, there, strict=True)].index(True) == len(here) - 2
        assert here[-1] == there[-1]
        own, other = (model.translate(text, beam_size=1).text.lower() for text in (one.text, one.corrupted))
        pronouns = [
            {word for word in split_words(text) if word in ("il", "elle", "ils", "elles")} for text in (own, other)
        ]
        assert pronouns[0] and pronouns[1] and pronouns[0] != pronouns[1]


def test_a_share_is_what_patching_finds(model: Translator, asked: list[AntecedentQuestion]) -> None:
    found = shares(model, asked[:2], [[head] for head in HEADS])
    for row, one in zip(found, asked, strict=False):
        every = patching(model.model, Corruption(one.source, one.other, one.target))
        assert (every.step, every.written, every.instead) == (one.step, one.token, one.corrupted_token)
        assert np.allclose(row, [every.restored[site][head] for site, head in HEADS], atol=1e-4)


def test_the_shipped_file_is_of_this_model_and_says_what_is_found_again(
    model: Translator, asked: list[AntecedentQuestion]
) -> None:
    facts = read_json(FOLDER / FILE)
    assert facts["model"] == digest(FOLDER), f"run {facts['command']}"
    assert facts["pairs"] == 200 and len(facts["heads"]) == 36
    assert [place[:3] for place in facts["heads"][:3]] == facts["top"]["heads"]
    again = measured(model, asked, named_heads(FOLDER))
    assert {tuple(place) for place in facts["named"]["heads"]} == set(again["named"]["heads"])
    assert facts["overlap"] == sum(place in facts["top"]["heads"] for place in facts["named"]["heads"])
    mean, deviation = facts["top"]["restored"]
    assert abs(again["top"]["restored"][0] - mean) < 3 * deviation  # of four of these sentences
