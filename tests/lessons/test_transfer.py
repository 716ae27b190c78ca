"""The question about a sentence of one's own, of each lesson that ships, and what a wrong choice betrays."""

from __future__ import annotations

import numpy as np
import pytest

from headlight.teaching.lessons.judging import check_guess, judge
from headlight.teaching.lessons.posing import pose
from headlight.teaching.lessons.posing import truth as true_answer
from headlight.teaching.lessons.reading import YOUR_SENTENCE, Lesson, Step, parse_lesson, shelf, transfer_step
from headlight.teaching.lessons.transfer import MAX_SENTENCE_CHARACTERS, TRANSFERS, sentence_of
from headlight.teaching.misconceptions import MISCONCEPTIONS
from tests.lessons import shipped
from tests.lessons.shipped import computer, translator

LESSONS = {lesson.name: lesson for lesson in shelf(shipped.LESSONS)}


def step_of(lesson: Lesson, sentence: str) -> Step:
    step = transfer_step(lesson, sentence)
    assert step is not None
    return step


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_asks_about_any_sentence(name: str) -> None:
    lesson = LESSONS[name]
    for typed in ("no", "Quokkas zzxq 7 \N{SNOWMAN}, ok?"):
        step = step_of(lesson, sentence_of(typed))
        measured = computer(step)
        posed, truth = pose(step, measured), true_answer(step, measured)
        assert not posed.keys() & {"answer", "row", "values", "explanation"}
        assert "{" not in truth["explanation"] and truth["explanation"]
        right = truth["answer"]
        right = [value * 100 / sum(right) for value in right] if step.ask == "row" else right
        assert judge(posed, truth, check_guess(posed, right))["right"]


def test_the_answers_are_those_of_the_model() -> None:
    """Computed once more, without the language of lessons."""
    sentence = "We are going to the beach today."
    model = translator("en-fr")
    trace = model.trace(sentence)
    written = [label.lstrip("▁") for label in trace.rows("cross")]
    last = max(i for i, label in enumerate(written) if label.isalpha())
    step = step_of(LESSONS["cross"], sentence)
    posed, truth = pose(step, computer(step)), true_answer(step, computer(step))
    assert posed["query"] == written[last]
    assert truth["answer"] == int(np.argmax(trace.pattern("cross")[2, 2, last]))
    step = step_of(LESSONS["decoding"], sentence)
    truth = true_answer(step, computer(step))
    same = model.translate(sentence, beam_size=1).text == model.translate(sentence, beam_size=5).text
    assert pose(step, computer(step))["choices"][truth["answer"]] == ("The same" if same else "Something else")


@pytest.mark.parametrize(
    "typed", [None, 3, ["a"], "", "  \n ", "12 !?", "\x00\x07", "a" * (MAX_SENTENCE_CHARACTERS + 1), "a" * 10**6]
)
def test_what_is_no_sentence_is_refused(typed: object) -> None:
    with pytest.raises(ValueError, match="^Type "):
        sentence_of(typed)


def test_a_sentence_is_one_line_and_nothing_in_it_is_obeyed() -> None:
    assert sentence_of(" A dog\n\tand a\x00 cat. ") == "A dog and a cat."
    braces = 'Say {translation} and "it"#2 or <b>so</b>.'
    step = step_of(LESSONS["cross"], sentence_of(braces))
    assert step.query["text"] == braces and pose(step, computer(step))["ask"] == "word"


def test_every_lesson_names_a_transfer_and_every_transfer_is_used() -> None:
    assert {lesson.transfer for lesson in LESSONS.values()} == TRANSFERS.keys()
    assert all(YOUR_SENTENCE not in [step.name for step in lesson.steps] for lesson in LESSONS.values())


STEP = """---
title: T
question: Q
minutes: 1
model: en-fr
{front}---

## A step
view: attention?text=Hello.
ask: choice

### Question
Which?

- One {{if tokens > 0}} {betrays}
- Two {{if tokens = 0}}

### Explanation
So.
"""


def test_a_choice_betrays_what_is_known() -> None:
    lesson = parse_lesson(STEP.format(front="transfer: cross\n", betrays="{betrays looks-words-up}"), "t", "t.md")
    assert [option.betrays for option in lesson.steps[0].options] == ["looks-words-up", ""]
    assert [option.text for option in lesson.steps[0].options] == ["One", "Two"]
    for front, betrays in (("", "{betrays nothing}"), ("", "{betrays }"), ("transfer: nowhere\n", "")):
        with pytest.raises(ValueError, match="There is no"):
            parse_lesson(STEP.format(front=front, betrays=betrays), "t", "t.md")


def test_the_registry_says_each_in_a_sentence() -> None:
    for name, known in MISCONCEPTIONS.items():
        assert known.belief.endswith(".") and known.correction.endswith(".") and name == name.lower()
