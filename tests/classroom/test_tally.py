"""What a class said together."""

import pytest

from server.classroom.tally import cue, in_words, is_right, misconceptions, share_right, split, tally

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
        ({"ask": "number", "unit": "%"}, 12.5, "12.5\u00a0%"),
        ({"ask": "order", "items": ["x", "y"]}, [1, 0], "y, x"),
        (ROW, [100, 0], "a 100\u00a0%"),
    ],
)
def test_an_answer_in_words(posed: dict[str, object], guess: object, words: str) -> None:
    assert in_words(posed, guess) == words


def test_peer_instruction_asks_for_talking_between_30_and_70_per_cent() -> None:
    assert [cue(percent) for percent in (0, 29, 30, 50, 70, 71, 100)] == [
        "explain", "explain", "talk", "talk", "talk", "go", "go",
    ]  # fmt: skip


def test_a_split_says_what_was_chosen_and_how_many_are_right() -> None:
    word = {"ask": "word", "labels": ["the", "cat", "sat"]}
    truth = {"answer": 1, "row": [20.0, 70.0, 10.0]}
    result = split(word, truth, [1, 1, 0])
    assert (result["share"], result["cue"], result["right"]) == (2 / 3, "talk", 2)
    assert result["bars"] == [
        {"label": "the", "count": 1, "right": False},
        {"label": "cat", "count": 2, "right": True},
        {"label": "sat", "count": 0, "right": False},
    ]
    nobody = split(word, truth, [])
    assert (nobody["share"], nobody["cue"], nobody["right"]) == (None, None, 0)
    heads = split({"ask": "head", "layers": 3, "heads": 4}, {"answer": [2, 3], "values": [[0.0] * 4] * 3}, [[1, 1]])
    assert [bar["label"] for bar in heads["bars"]] == ["layer 1, head 1", "layer 2, head 3"]  # of many, what counts
    number = split({"ask": "number", "least": 0, "most": 100, "step": 1, "unit": "%"}, {"answer": 40.0}, [5, 40, 41])
    assert [bar["count"] for bar in number["bars"]] == [1, 2, 0] and number["bars"][1]["label"] == "close to 40\u00a0%"
    order = split({"ask": "order", "items": ["a", "b"]}, {"answer": [1, 0]}, [[0, 1], [0, 1]])
    assert [(bar["label"], bar["count"], bar["right"]) for bar in order["bars"]] == [
        ("a, b", 2, False),
        ("b, a", 0, True),
    ]


def test_a_drawn_row_is_right_where_its_highest_bar_is() -> None:
    truth = {"answer": [30.0, 70.0], "row": [30.0, 70.0]}
    assert is_right(ROW, truth, [0.0, 100.0]) and not is_right(ROW, truth, [60.0, 40.0])
    assert share_right(ROW, truth, [[0.0, 100.0], [60.0, 40.0]]) == 0.5 and share_right(ROW, truth, []) is None


def test_misconceptions_are_counted_without_names() -> None:
    posed = {"ask": "choice", "choices": ["a", "b", "c", "d"]}
    future, bright = ({"name": name, "belief": name.title(), "correction": "No."} for name in ("future", "bright"))
    truth = {"answer": 1, "betrays": [future, None, bright, None]}
    counted = misconceptions(posed, truth, [2, 0, 2, 1, 3, 1])  # of those that are right, and of d, nothing is known
    assert counted == [{**bright, "count": 2}, {**future, "count": 1}]
    assert split(posed, truth, [2, 0, 2])["misconceptions"] == counted
    assert misconceptions(posed, {"answer": 1}, [0]) == misconceptions(posed, truth, []) == []
    assert misconceptions({"ask": "word", "labels": ["a", "b"]}, {"answer": 1, "row": [1.0, 2.0]}, [0]) == []
