"""What a class said together."""

import pytest

from classroom.tally import in_words, tally

ROW = {"ask": "row", "labels": ["a", "b"]}
HEAD = {"ask": "head", "layers": 2, "heads": 3}


def test_each_kind_of_question_has_its_tally() -> None:
    assert tally({"ask": "word", "labels": ["a", "b"]}, [1, 1]) == {"count": 2, "counts": [0, 2]}
    assert tally({"ask": "choice", "choices": ["a", "b", "c"]}, [2, 0]) == {"count": 2, "counts": [1, 0, 1]}
    assert tally(HEAD, [[2, 1], [2, 1], [1, 3]]) == {"count": 3, "counts": [0, 0, 1, 2, 0, 0]}
    assert tally({"ask": "number"}, [7, 3.5]) == {"count": 2, "values": [3.5, 7]}
    assert tally({"ask": "order", "items": ["a", "b"]}, [[1, 0]]) == {"count": 1, "orders": [[1, 0]]}
    rows = tally(ROW, [[60, 40], [20, 80]])
    assert rows == {"count": 2, "counts": [1, 1], "mean": [40, 60], "spread": [20, 20]}
    assert tally(ROW, []) == {"count": 0, "counts": [0, 0]}


@pytest.mark.parametrize(
    ("posed", "guess", "words"),
    [
        ({"ask": "word", "labels": ["a", "b"]}, 1, "b"),
        ({"ask": "choice", "choices": ["yes", "no"]}, 0, "yes"),
        (HEAD, [2, 3], "layer 2, head 3"),
        ({"ask": "number", "unit": "%"}, 12.5, "12.5 %"),
        ({"ask": "order", "items": ["x", "y"]}, [1, 0], "y, x"),
        (ROW, [100, 0], "a 100 %"),
    ],
)
def test_an_answer_in_words(posed: dict[str, object], guess: object, words: str) -> None:
    assert in_words(posed, guess) == words
