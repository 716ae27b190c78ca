"""The Lessons page: the list of lessons, or one step of one of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from headlight.language import gettext, ngettext
from headlight.teaching.lessons.handout import handout
from headlight.teaching.lessons.reading import Lesson
from ui.lessons import shelf, step, teaching
from ui.lessons.components import lessons as lessons_component
from ui.lessons.joining import how_to_be_reached, join_address
from ui.lessons.view import LessonsView
from ui.state.queue import in_turn
from ui.state.view import update
from ui.widgets.frame import frame, heading


def body() -> None:
    with frame(LessonsView) as view:
        lessons, wrong = shelf.shelf()
        lessons = [shelf.with_sentence(lesson, view.own if lesson.name == view.lesson else "") for lesson in lessons]
        lesson = next((lesson for lesson in lessons if lesson.name == view.lesson), None)
        if lesson is None:
            _list(lessons, wrong, view)
        else:
            _step(lesson, lessons, view)


def _list(lessons: list[Lesson], wrong: list[str], view: LessonsView) -> None:
    heading(gettext("Lessons"), gettext("What do you expect? Guess first, then look."))
    if view.lesson:
        text = ngettext(
            "There is no lesson of that name here. This is the one there is.",
            "There is no lesson of that name here. These are {count}.",
            len(lessons),
        )
        st.info(text, icon=":material/info:")
    for complaint in wrong:
        st.warning(complaint, icon=":material/error:", title=gettext("A lesson can’t be read"))
    if not lessons:
        text = gettext("There is no lesson in lessons/en yet: docs/lessons.md says how to write one.")
        st.info(text, icon=":material/info:")
        return
    header = {
        "lessons": [
            step.summary(lesson) | {"question": lesson.question, "minutes": lesson.minutes} for lesson in lessons
        ],
        "done": view.done,
    }
    lessons_component(header, step.open_picked)


def _step(lesson: Lesson, lessons: list[Lesson], view: LessonsView) -> None:
    chosen = lesson.steps[lesson.step(view.step or "")]
    if view.code and not view.only:
        teaching.draw_teaching(lesson, chosen, view)  # it has a title of its own
        return
    actions = heading(lesson.title, gettext("Lesson {number} of {all}", number=lesson.number, all=len(lessons)))
    if not view.only:
        with actions, st.container(horizontal=True):
            st.button(
                gettext("Start a class"),
                icon=":material/groups:",
                on_click=teaching.start_class,
                args=(lesson, chosen),
                help=None if join_address() else how_to_be_reached(),
            )
            st.button(gettext("All lessons"), icon=":material/chevron_left:", type="tertiary", on_click=_leave)
        with st.sidebar:
            handouts(lesson)
            st.caption(gettext("Model, chosen by the lesson: {model}", model=chosen.model))
    teaching.refusal()
    step.draw_step(lesson, chosen, lessons, view)


def _leave() -> None:
    update(lesson=None, step=None, own="")


def handouts(lesson: Lesson) -> None:
    """Draw the buttons; a file is written when its button is pressed. On paper nobody can type a sentence."""
    lesson = replace(lesson, steps=tuple(step for step in lesson.steps if not shelf.is_untyped(step)))
    with st.popover(gettext("Handout"), icon=":material/print:", width="stretch"):
        st.caption(gettext("One file to print, with the pictures and room for guesses. It needs no network."))
        for label, answers in ((gettext("For the class"), False), (gettext("With the answers"), True)):
            st.download_button(
                label,
                in_turn(partial(handout, lesson, shelf.measuring, answers), gettext("The handout")),
                f"{lesson.name}{'-answers' if answers else ''}.html",
                "text/html",
                on_click="ignore",
                width="stretch",
                key=f"handout-{answers}",
            )
