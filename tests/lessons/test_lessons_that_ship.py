"""Every step of every lesson is computed from the shipped models, and what its texts claim holds."""

import json
import re
from typing import Any

import pytest

from headlight.teaching.lessons.judging import check_guess, judge
from headlight.teaching.lessons.posing import failing, introduction, pose
from headlight.teaching.lessons.posing import truth as true_answer
from headlight.teaching.lessons.reading import Lesson, Step, shelf
from tests.lessons import shipped
from tests.lessons.shipped import computer

LESSONS = shelf(shipped.LESSONS)
CAUSAL = re.compile(r"\b(because|so|without|why|therefore|decides?|needed|matters?|copies|copied)\b", re.IGNORECASE)
STEPS = [pytest.param(lesson, step, id=f"{lesson.name}-{step.name}") for lesson in LESSONS for step in lesson.steps]


@pytest.mark.parametrize(("lesson", "step"), STEPS)
def test_a_step_is_computed_and_its_claims_hold(lesson: Lesson, step: Step) -> None:
    measured = computer(step)
    posed, truth = pose(step, measured), true_answer(step, measured)
    json.dumps([posed, truth], allow_nan=False)
    assert failing(step, measured) == []
    assert step.text and step.hint and posed["question"]
    assert truth["explanation"]
    for text in (introduction(step, measured), posed["question"], truth["explanation"]):
        assert "{" not in text
    right: Any = truth["answer"]
    if step.ask == "row":
        right = [value * 100 / sum(right) for value in right]
    judged = judge(posed, truth, check_guess(posed, right))
    assert judged["right"]
    assert judged["score"] == pytest.approx(1, abs=0.01)
    assert_question_does_not_tell_its_answer(step, posed, truth)
    if any(option.betrays for option in step.options):
        for guess, betrays in enumerate(truth["betrays"]):
            judged = judge(posed, truth, guess)
            assert judged.get("betrays") == (None if guess == truth["answer"] else betrays), guess
        assert truth["betrays"][truth["answer"]] is None, "the right choice betrays something"


def assert_question_does_not_tell_its_answer(step: Step, posed: dict[str, Any], truth: dict[str, Any]) -> None:
    assert not posed.keys() & {"answer", "row", "values", "explanation", "smallest", "betrays"}
    if "picture" in posed:
        cell = posed["picture"]["asked"]
        assert set(posed["picture"]["weights"][cell]) == {None}
    weighed = step.ask == "number" and step.answer is not None and step.answer.what == "weight"
    assert ("picture" in posed) == (step.ask in ("word", "row") or weighed)
    if weighed:
        assert any(value == pytest.approx(truth["answer"], abs=0.01) for value in truth["row"])
    if any(word in step.hint for word in ("thumbnails", "the picture", "diagonal")):  # then there is something to see
        assert posed.keys() & {"picture", "thumbnails"}
    if step.explanation:
        assert truth["explanation"] not in json.dumps(posed, ensure_ascii=False)


@pytest.mark.parametrize(("lesson", "step"), STEPS)
def test_every_causal_sentence_of_an_explanation_has_a_claim(lesson: Lesson, step: Step) -> None:
    """A claim checks what a step says about a model: one per sentence with a causal word, and at least one."""
    prose = re.sub(r"\{[^}]*\}|“[^”]*”", "", step.explanation)  # no expressions, and no sentences that are quoted
    causal = [sentence for sentence in re.split(r"(?<=[.?!])\s", prose) if CAUSAL.search(sentence)]
    assert len(step.claims) >= max(1, len(causal)), causal


def test_no_two_lessons_have_one_number_and_all_kinds_of_question_are_asked() -> None:
    assert len({lesson.number for lesson in LESSONS}) == len(LESSONS)
    assert {step.ask for lesson in LESSONS for step in lesson.steps} == {
        *("word", "row", "head", "number", "choice", "order")
    }


@pytest.mark.parametrize("name", ["it", "cross"])
def test_the_cell_that_is_asked_about_is_marked_in_every_head(name: str) -> None:
    """Without the mark nobody could find the head among twelve pictures of a few pixels."""
    lesson = next(lesson for lesson in LESSONS if lesson.name == name)
    step = next(step for step in lesson.steps if step.ask == "head" and step.answer and step.answer.words)
    posed = pose(step, computer(step))
    row, column = posed["asked"]["row"], posed["asked"]["column"]
    assert step.answer is not None
    assert [posed["rows"][row], posed["columns"][column]] == [word.text for word in step.answer.words]
    truth = true_answer(step, computer(step))
    layer, head = truth["answer"]
    assert f"layer {layer}, head {head}" in truth["explanation"]
