"""A step of a lesson: the question, then the answer next to the guess.

The answer is sent only after a guess.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from headlight.glossary import LESSON_TERMS, explained
from headlight.teaching.lessons.judging import check_guess, judge
from headlight.teaching.lessons.reading import YOUR_SENTENCE, Lesson, Step
from headlight.teaching.lessons.transfer import MAX_SENTENCE_CHARACTERS, sentence_of
from ui.lessons import shelf
from ui.lessons.components import step as step_component
from ui.lessons.view import LessonsView
from ui.state.view import address_parameters, update
from ui.widgets.errors import error_text

REVEALED_KEY = "lesson-told"  # of the session: the guess of each revealed step; None without a guess
REFUSAL_KEY = "lesson-refused"  # why the last guess was not taken
TYPED_KEY = "lesson-typed"  # a sentence that was typed, and why there is no question about it


def draw_step(lesson: Lesson, step: Step, lessons: list[Lesson], view: LessonsView) -> None:
    """Draw the step; raise ValueError where its model can't answer."""
    if refused := st.session_state.pop(REFUSAL_KEY, None):
        st.warning(refused, icon=":material/error:")
    posed_step, typed = _posed(lesson, step)
    following = next(iter(lessons[lessons.index(lesson) + 1 :]), None)
    header = {
        "lesson": {"name": lesson.name, "title": lesson.title, "number": lesson.number},
        "following": following and {"name": following.name, "title": following.title},
        "steps": [
            {"name": lesson_step.name, "title": lesson_step.title, "ask": lesson_step.ask}
            for lesson_step in lesson.steps
        ],
        "earlier": [summary(earlier) for earlier in lessons[: lessons.index(lesson)]],
        "typed": typed,
        "at": lesson.steps.index(step),
        "text": explained(posed_step.text, *LESSON_TERMS) if posed_step else "",
        "sentence": step.query.get("text", ""),
        "question": posed_step.posed["question"] if posed_step else step.question,
        "hint": step.hint,
        "posed": posed_step and posed_step.posed,
        "own": own_address(step),
        "only": view.only,
        "told": posed_step and _answer(lesson, step, posed_step),
    }
    step_component(header, partial(_picked, lesson, step, following, view.only))


def summary(lesson: Lesson) -> dict[str, Any]:
    """Return a lesson as lists of lessons have it."""
    steps = [{"name": step.name, "title": step.title, "ask": step.ask} for step in lesson.steps]
    return {"name": lesson.name, "number": lesson.number, "title": lesson.title, "steps": steps}


def _posed(lesson: Lesson, step: Step) -> tuple[shelf.PosedStep | None, dict[str, Any] | None]:
    """Return the posed step, None where a sentence is still to be typed, and what there is to say about typing one."""
    if step.name != YOUR_SENTENCE:
        return shelf.posed_step(lesson, step), None
    sentence, refused = st.session_state.pop(TYPED_KEY, (step.query["text"], ""))
    typed = {"sentence": sentence, "refused": refused, "most": MAX_SENTENCE_CHARACTERS}
    if shelf.is_untyped(step):
        return None, typed
    try:
        return shelf.posed_step(lesson, step), typed
    except ValueError as error:  # of this sentence: it is too long for the model, or has no word to ask about
        return None, typed | {"refused": refused or error_text(error)}


def open_picked(pick: object) -> None:
    """Open the step that was picked in a list; one that is asked once more forgets the guess of this session."""
    match pick:
        case {"lesson": str(lesson), "step": str(step), **more}:
            if more.get("again"):
                st.session_state.get(REVEALED_KEY, {}).pop((lesson, step), None)
            update(lesson=lesson, step=step or None, own="")


def own_address(step: Step) -> str:
    """Return the address of the same view on its own page, with the box for a sentence."""
    return f"{step.page}?{urlencode({'model': step.model, **step.query, **address_parameters()})}"


def _answer(lesson: Lesson, step: Step, posed_step: shelf.PosedStep) -> dict[str, Any] | None:
    """Return what may be known after the answer, or None before it."""
    guesses = st.session_state.get(REVEALED_KEY, {})
    if _key(lesson, step) not in guesses:
        return None
    guess = guesses[_key(lesson, step)]
    judged = None if guess is None else judge(posed_step.posed, posed_step.truth, guess)
    return {"guess": guess, "truth": posed_step.truth, "judged": judged}


def _key(lesson: Lesson, step: Step) -> tuple[str, str]:
    """Return the key of a step's guess; a guess about one sentence is none about another."""
    sentence = f" {step.query['text']}" if step.name == YOUR_SENTENCE else ""
    return lesson.name, step.name + sentence


def _picked(lesson: Lesson, step: Step, following: Lesson | None, only: bool, pick: object) -> None:
    verdicts = st.session_state.setdefault(REVEALED_KEY, {})
    step_key = _key(lesson, step)
    match pick:
        case {"sentence": None} if step.name == YOUR_SENTENCE:
            update(own="")
        case {"sentence": typed} if step.name == YOUR_SENTENCE:
            try:
                update(own=sentence_of(typed))
            except ValueError as error:
                st.session_state[TYPED_KEY] = (str(typed)[:MAX_SENTENCE_CHARACTERS], str(error))
        case {"lesson": _}:
            if not only:
                open_picked(pick)
        case {"guess": guess}:
            try:
                verdicts[step_key] = check_guess(shelf.posed_step(lesson, step).posed, guess)
            except ValueError as error:
                st.session_state[REFUSAL_KEY] = error_text(error)
        case {"skip": True}:
            verdicts[step_key] = None
        case {"again": True}:
            verdicts.pop(step_key, None)
        case {"step": name} if not only and name in [lesson_step.name for lesson_step in lesson.steps]:
            update(step=name)
        case {"following": True} if following and not only:
            update(lesson=following.name, step=None, own="")
        case {"list": True} if not only:
            update(lesson=None, step=None, own="")
