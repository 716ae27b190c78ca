"""The Lessons page's own components: the list, and one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from headlight.viewer.packing import pack
from ui.viewer.component import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

QUESTION = ("question_head", "question_row", "question_order", "question")
_STYLES = ("question", "lessons")
_LIST = component(
    "lessons", "mountLessons", "icons", "prose", "storage", "progress", *QUESTION, "lesson", "lessons", styles=_STYLES
)
_STEP = component(
    *("lesson", "mountLesson", "icons", "prose", "storage", "progress", *QUESTION, "lessons", "lesson"), styles=_STYLES
)

_CLASS_STYLES = ("question", "lessons", "class_split", "class")
_CLASS = component("class", "mountClass", "icons", "prose", *QUESTION, "class_screen", styles=_CLASS_STYLES)
_SPLIT = component("class_split", "mountSplit", "prose", "class_split", styles=("class_split",))


OnPick = Callable[[Any], None]  # gets what the browser sent, which may be anything that JSON can say


def lessons(header: Mapping[str, Any], on_pick: OnPick) -> None:
    """Draw the list; a pick is {"lesson": name, "step": name, "again": whether it is asked once more}."""
    _draw(_LIST, header, "lessons", on_pick)


def class_room(header: Mapping[str, Any], on_pick: OnPick) -> None:
    """Draw a class's screen; a pick is {"step": name}, or {"act": "open", "lock", "reveal", ...}."""
    _draw(_CLASS, header, "class", on_pick)


def class_split(header: Mapping[str, Any], on_pick: OnPick) -> None:
    """Draw the answers so far, for the teacher alone; a pick is {"act": lock, unlock, reveal or again}."""
    _draw(_SPLIT, header, "class-split", on_pick)


def step(header: Mapping[str, Any], on_pick: OnPick) -> None:
    """Draw one step.

    A pick is {"guess": what was guessed}, {"skip": True}, {"again": True}, {"step": name}, {"following": True},
    {"list": True}, one of `lessons`, or of the last step {"sentence": what was typed, None for another}.
    """
    _draw(_STEP, header, "lesson", on_pick)


def _draw(component: ComponentRenderer, header: Mapping[str, Any], key: str, on_pick: OnPick) -> None:
    component(data=pack(header, {}), key=key, on_pick_change=lambda: on_pick(st.session_state[key].get("pick")))
