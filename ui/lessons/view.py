"""The Lessons page's view, as an address spells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

from headlight.teaching.lessons.transfer import sentence_of
from server.classroom import codes
from ui.state.view import PageView

MAX_PROGRESS_CHARACTERS = 4000
_NAME = re.compile(r"[\w.-]{1,80}")


@dataclass(frozen=True)
class LessonsView(PageView):
    """The state of the Lessons page: the list of lessons, or one step of one of them.

    A step brings its model and its sentence, so what other pages show is in no address of this page.
    """

    PAGE: ClassVar[str | None] = "lessons"

    lesson: str | None = None  # None is the list
    step: str | None = None  # None is the first
    only: bool = False  # that step and nothing else, as on a worksheet
    done: str = ""  # progress that a link brings to this browser; from then on the browser keeps it

    own: str = ""  # the sentence that was typed for the last question of the lesson

    code: str | None = None  # of a class that does this lesson
    private: bool = False  # the split before the reveal, on a phone or in a window that the class does not see

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        lesson = _name(query.get("lesson"))
        code = codes.parse(query.get("code")) if lesson else None
        return {
            "lesson": lesson,
            "step": _name(query.get("step")) if lesson else None,
            "only": lesson is not None and query.get("only") == "1",
            "own": _sentence(query.get("own")) if lesson else "",
            "done": query.get("done", "")[:MAX_PROGRESS_CHARACTERS],
            "code": code,
            "private": code is not None and query.get("private") == "1",
        }

    @property
    def alone(self) -> bool:
        return self.only or self.private

    @property
    def shareable(self) -> bool:
        return not self.code  # a class has links of its own

    def to_query(self) -> dict[str, str]:
        shared = {field.name for field in fields(PageView)} | {"done"}
        return {name: value for name, value in super().to_query().items() if name not in shared}

    def shared_query(self) -> dict[str, str]:
        return super().to_query()


def _sentence(text: str | None) -> str:
    try:
        return sentence_of(text)
    except ValueError:
        return ""


def _name(text: str | None) -> str | None:
    return text if text and _NAME.fullmatch(text) else None
