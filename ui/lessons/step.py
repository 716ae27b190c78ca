"""A step of a lesson: the question, then the answer next to the guess.

The answer is sent only after a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from headlight.glossary import LESSON_TERMS, explained
from headlight.teaching.lessons import Lesson, Step, check_guess, judge
from ui.lessons import shelf
from ui.lessons.components import step as step_component
from ui.lessons.view import LessonsView
from ui.state.view import update

REVEALED_KEY = "lesson-told"  # of the session: the guess of each revealed step; None without a guess
REFUSED = "lesson-refused"  # why the last guess was not taken


def draw_step(lesson: Lesson, step: Step, lessons: list[Lesson], view: LessonsView) -> None:
    """Draw the step; raise ValueError where its model can't answer."""
    if refused := st.session_state.pop(REFUSED, None):
        st.warning(refused, icon=":material/error:")
    posed_step = shelf.posed_step(lesson, step)
    following = next(iter(lessons[lessons.index(lesson) + 1 :]), None)
    header = {
        "lesson": {"name": lesson.name, "title": lesson.title, "number": lesson.number},
        "following": following and {"name": following.name, "title": following.title},
        "steps": [
            {"name": lesson_step.name, "title": lesson_step.title, "ask": lesson_step.ask}
            for lesson_step in lesson.steps
        ],
        "at": lesson.steps.index(step),
        "text": explained(posed_step.text, *LESSON_TERMS),
        "sentence": step.query.get("text", ""),
        "question": posed_step.posed["question"],
        "hint": step.hint,
        "posed": posed_step.posed,
        "own": own_address(step),
        "only": view.only,
        "told": _answer(lesson, step, posed_step),
    }
    step_component(header, key="lesson", on_pick=partial(_picked, lesson, step, following, view.only))


def own_address(step: Step) -> str:
    """Return the address of the same view on its own page, with the box for a sentence."""
    return f"{step.page}?{urlencode({'model': step.model, **step.query})}"


def _answer(lesson: Lesson, step: Step, posed_step: shelf.PosedStep) -> dict[str, Any] | None:
    """Return what may be known after the answer, or None before it."""
    guesses = st.session_state.get(REVEALED_KEY, {})
    if (lesson.name, step.name) not in guesses:
        return None
    guess = guesses[lesson.name, step.name]
    judged = None if guess is None else judge(posed_step.posed, posed_step.truth, guess)
    return {"guess": guess, "truth": posed_step.truth, "judged": judged}


def _picked(lesson: Lesson, step: Step, following: Lesson | None, only: bool, pick: Mapping[str, Any]) -> None:
    verdicts = st.session_state.setdefault(REVEALED_KEY, {})
    step_key = (lesson.name, step.name)
    match pick:
        case {"guess": guess}:
            try:
                verdicts[step_key] = check_guess(shelf.posed_step(lesson, step).posed, guess)
            except ValueError as error:
                st.session_state[REFUSED] = str(error)
        case {"skip": True}:
            verdicts[step_key] = None
        case {"again": True}:
            verdicts.pop(step_key, None)
        case {"step": name} if not only and name in [lesson_step.name for lesson_step in lesson.steps]:
            update(step=name)
        case {"following": True} if following and not only:
            update(lesson=following.name, step=None)
        case {"list": True} if not only:
            update(lesson=None, step=None)
