"""What is new in a line, and which lines are shown."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from headlight.runs import Metrics, RunFolder
from ui.training.writes import MAX_LINES, WrittenLine, news, of_evaluations, payload, select_lines

words = st.lists(st.sampled_from(["un", "homme", "est", "assis", "banc", "."]), max_size=8).map(" ".join)
letters = st.text("abc", max_size=12)


@given(words, words)
def test_the_pieces_are_the_line_and_old_words_are_not_new(before: str, after: str) -> None:
    pieces = news(before, after)
    assert "".join(text for text, _ in pieces).split() == after.split()
    kept = [text for text, fresh in pieces if not fresh and text.strip()]
    assert all(part in before for text in kept for part in text.split())


@given(letters, letters)
def test_letters_are_compared_one_by_one(before: str, after: str) -> None:
    pieces = news(before, after)
    assert "".join(text for text, _ in pieces) == after
    kept = iter(before)  # the old letters stand in the line above in the same order
    assert all(letter in kept for text, fresh in pieces if not fresh for letter in text)


def test_a_word_is_underlined_and_its_space_is_not() -> None:
    assert [text for text, fresh in news("Un homme est un.", "Un homme est assis.") if fresh] == ["assis"]


def test_the_lines_are_those_of_the_evaluations(finished: RunFolder) -> None:
    evaluations = [
        {"step": one["step"], **one["evaluation"]} for one in Metrics(finished.path).read() if "evaluation" in one
    ]
    lines = of_evaluations(evaluations, "one two")
    assert [line.step for line in lines] == [25, 50, 60]
    assert all(line.text == e["watched"][0]["translation"] for line, e in zip(lines, evaluations, strict=True))
    assert of_evaluations(evaluations, "another") == []


def test_long_stories_keep_their_changes_first() -> None:
    lines = [WrittenLine(step, str(step // 10), -1.0) for step in range(0, 1000)]
    kept = select_lines(lines)
    assert len(kept) <= MAX_LINES and (kept[0], kept[-1]) == (lines[0], lines[-1])
    few = [WrittenLine(step, "new" if step >= 500 else "old", -1.0) for step in range(1000)]
    assert [line.step for line in select_lines(few)] == [0, 500, 999]


def test_a_line_like_the_one_above_says_so() -> None:
    data = payload("run", [WrittenLine(1, "<b>a</b>", -3.0), WrittenLine(2, "<b>a</b>", None)], None)
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert [line["same"] for line in header["lines"]] == [False, True]
    assert not any(fresh for line in header["lines"] for _, fresh in line["parts"])
