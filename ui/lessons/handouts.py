"""A lesson to print: one file with room for guesses, and the teacher's with the answers."""

from __future__ import annotations

from functools import partial

import streamlit as st

from headlight.teaching.lessons import Lesson
from headlight.teaching.lessons.handout import handout
from ui.lessons import shelf
from ui.state.queue import in_turn


def handouts(lesson: Lesson) -> None:
    """Draws the buttons; a file is made when it is asked for."""
    with st.popover("Handout", icon=":material/print:", width="stretch"):
        st.caption("One file to print, with the pictures and room for guesses. It needs no network.")
        for label, answers in (("For the class", False), ("With the answers", True)):
            st.download_button(
                label,
                in_turn(partial(handout, lesson, shelf.measuring, answers), "The handout"),
                f"{lesson.name}{'-answers' if answers else ''}.html",
                "text/html",
                on_click="ignore",
                width="stretch",
                key=f"handout-{answers}",
            )
