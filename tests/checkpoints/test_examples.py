"""The sentences of a card: texts, or texts with what there is to see in them, for all pages or for some."""

from transformer.checkpoints.examples import Example, examples

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
