"""The sentences of a card: texts, or texts with what there is to see in them, for all pages or for some."""

import pytest

from headlight.corpora.about import everyday
from headlight.importers.examples import Example, examples, suggest_examples
from tests.small import TEXTS, small_checkpoint
from transformer.tokenizers import Tokenizer

CARD = {
    "examples": [
        "Two dogs.",
        {"text": "I saw her duck.", "why": "The beam hesitates.", "pages": ["decoding"]},
        {"text": "It was tired.", "why": "What is it?"},
    ]
}


def test_all_of_them_and_those_of_a_page() -> None:
    assert examples(CARD) == [
        Example("Two dogs."),
        Example("I saw her duck.", "The beam hesitates.", ("decoding",)),
        Example("It was tired.", "What is it?"),
    ]
    assert [one.text for one in examples(CARD, "attention")] == ["Two dogs.", "It was tired."]
    assert examples(CARD, "decoding") == examples(CARD)


def test_what_is_no_example_is_left_out() -> None:
    assert examples({}) == examples({"examples": None}) == examples({"examples": "Two dogs."}) == []
    odd = [1, None, "", ["a"], {}, {"text": 3}, {"why": "nothing"}, {"text": "A.", "why": 3, "pages": "decoding"}]
    assert examples({"examples": odd}) == [Example("A.")]
    assert examples({"examples": [{"text": "A.", "pages": [None, "heads"]}]}, "heads")[0].pages == ("heads",)


@pytest.mark.parametrize("language", ["English", "en", "en_XX", "", None, 3])
def test_a_model_of_a_known_language_gets_sentences_in_it(language: object) -> None:
    knows = Tokenizer.train([*everyday("English"), *everyday("German")], "words", 500, min_frequency=1)
    assert suggest_examples(language, knows) == everyday("English") != []
    assert suggest_examples("German", knows) == everyday("de") != []


@pytest.mark.parametrize("kind", ["words", "characters", "bpe"])
def test_any_other_gets_words_of_its_vocabulary(kind: str) -> None:
    tokenizer = small_checkpoint(kind).source_tokenizer
    (text,) = suggest_examples("Klingon", tokenizer)
    assert tokenizer.unk_id not in tokenizer.encode(text)
    assert all(piece in " ".join(TEXTS) for piece in text.split())
