"""What a guess is worth, worked out by hand; and that a browser cannot send what is none."""

from typing import Any

import pytest

from headlight.teaching.lessons.judging import check_guess, judge

ROW = {"ask": "row", "labels": ["a", "b", "c", "d"]}
QUESTIONS: dict[str, dict[str, Any]] = {
    "word": {"ask": "word", "labels": ["a", "b", "c", "d"]},
    "row": ROW,
    "head": {"ask": "head", "layers": 2, "heads": 3},
    "number": {"ask": "number", "least": 0.0, "most": 10.0, "step": 1.0, "unit": "%"},
    "choice": {"ask": "choice", "choices": ["x", "y"]},
    "order": {"ask": "order", "items": ["x", "y", "z"]},
}


def test_a_row_is_judged_by_its_overlap_beside_that_of_spreading_evenly() -> None:
    judged = judge(ROW, {"answer": [70.0, 20.0, 10.0, 0.0]}, [40.0, 40.0, 20.0, 0.0])
    assert judged["overlap"] == 40 + 20 + 10
    assert judged["evenly"] == 25 + 20 + 10
    assert judged["difference"] == [-30, 20, 10, 0]
    assert not judged["right"]
    judged = judge(ROW, {"answer": [6.48, 93.52, 0.0, 0.0]}, [100, 0, 0, 0])
    assert judged["overlap"] == 6 and judged["sentence"].startswith("6\u00a0%")  # and not 6.5, which becomes 7


def test_a_word_is_right_where_no_other_gets_more() -> None:
    truth = {"answer": 0, "row": [45.0, 45.0, 10.0, 0.0]}
    assert judge(QUESTIONS["word"], truth, 1)["right"]
    third = judge(QUESTIONS["word"], truth, 2)
    assert not third["right"]
    assert third["score"] == pytest.approx(10 / 45, abs=1e-4)


def test_a_share_is_written_as_beside_the_word() -> None:
    truth = {"answer": 0, "row": [99.6, 0.3, 0.0, 0.1]}
    sentences = [judge(QUESTIONS["word"], truth, guess)["sentence"] for guess in range(3)]
    assert sentences == [
        "“a” gets over 99\u00a0%, the most.",
        "“b” gets under 1\u00a0%, not the most.",
        "“c” gets 0\u00a0%, not the most.",
    ]


def test_a_head_is_judged_by_its_place_among_all() -> None:
    truth = {"answer": [2, 1], "values": [[0.1, 0.5, 0.2], [0.9, 0.3, 0.0]], "smallest": False}
    judged = judge(QUESTIONS["head"], truth, [1, 2])
    assert (judged["right"], judged["place"]) == (False, 2)
    assert judge(QUESTIONS["head"], truth, [2, 1])["right"]
    fewest = {"answer": [2, 3], "values": truth["values"], "smallest": True}
    assert judge(QUESTIONS["head"], fewest, [2, 1])["place"] == 6


def test_an_order_counts_the_pairs_that_stand_right() -> None:
    judged = judge(QUESTIONS["order"], {"answer": [2, 0, 1]}, [2, 1, 0])
    assert judged["score"] == pytest.approx(2 / 3, abs=1e-4)


def test_a_number_is_told_how_far_off_it_is() -> None:
    judged = judge(QUESTIONS["number"], {"answer": 7.0}, 2.0)
    assert judged["sentence"] == "5 points too low."
    assert judge(QUESTIONS["number"], {"answer": 7.0}, 7.2)["sentence"] == "Exactly."


@pytest.mark.parametrize(
    ("ask", "guess"),
    [
        *[("word", guess) for guess in (4, -1, 1.0, True, "1", None, [1], {})],
        *[("row", guess) for guess in ([25, 25, 25], [50, 60, 0, -10], [90, 0, 0, 0], [25, 25, 25, "25"], "x")],
        ("row", [float("nan"), 50, 25, 25]),
        ("row", [10**400, 50, 25, 25]),
        ("number", 10**400),
        ("row", [float("inf"), 0, 0, 0]),
        ("row", [True, 99, 0, 0]),
        *[("head", guess) for guess in ([3, 1], [1, 4], [1], [1, 1, 1], [0.5, 1], "1.1", None, [0, 1], [1, 0])],
        *[("number", guess) for guess in (-0.1, 10.1, float("nan"), "5", None, True, [5])],
        *[("choice", guess) for guess in (2, -1, "x", None)],
        *[("order", guess) for guess in ([0, 1], [0, 1, 1], [0, 1, 3], "012", [0, 1, 2, 2])],
    ],
)
def test_what_is_no_answer_is_refused(ask: str, guess: object) -> None:
    with pytest.raises(ValueError, match=r"guess|row|order"):
        check_guess(QUESTIONS[ask], guess)
