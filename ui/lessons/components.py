"""The Lessons page's own components: the list, and one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from headlight.viewer.packing import pack
from ui.viewer.component import component

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


def lessons(header: Mapping[str, Any], *, key: str, on_open: Callable[[str, str, bool], None]) -> None:
    """Draw the list; `on_open` gets the names of a lesson and of a step, and whether that is asked once more."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"lesson": str(lesson), "step": str(step), **more}:
                on_open(lesson, step, bool(more.get("again")))

    _LIST(data=pack(header, {}), key=key, on_pick_change=picked)


def class_room(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """Draw a class's screen; `on_pick` gets {"step": name}, or {"act": "open", "lock", "reveal", ...}."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"act": str()} | {"step": str()} as pick:
                on_pick(pick)

    _CLASS(data=pack(header, {}), key=key, on_pick_change=picked)


def class_split(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """Draw the answers so far, for the teacher alone; `on_pick` gets {"act": lock, unlock, reveal or again}."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"act": "lock" | "unlock" | "reveal" | "again"} as pick:
                on_pick(pick)

    _SPLIT(data=pack(header, {}), key=key, on_pick_change=picked)


def step(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """Draw one step.

    `on_pick` gets {"guess": what was guessed}, {"skip": True}, {"again": True}, {"step": name}, {"following": True},
    {"list": True}, {"lesson": name, "step": name, "again": whether it is asked once more}, or of the last step
    {"sentence": what was typed, None for another}. It comes from a browser: a guess may be anything that JSON can say.
    """

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"guess": _} | {"step": str()} | {"sentence": str() | None} as pick:
                on_pick(pick)
            case {"skip": True} | {"again": True} | {"following": True} | {"list": True} as pick:
                on_pick(pick)

    _STEP(data=pack(header, {}), key=key, on_pick_change=picked)
