"""The lessons that there are, and what the library says of their steps, computed once for everybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformer.lessons import Lesson, Step, pose, read, truth
from ui.state import models
from ui.state.cache import kept


def shelf() -> tuple[list[Lesson], list[str]]:
    """The lessons in their order, and what is wrong with the files that can't be read."""
    lessons, wrong = [], []
    for path in sorted(models.LESSONS.glob("[!.]*.md")):
        try:
            lessons.append(_read(path, path.stat().st_mtime_ns))
        except (ValueError, OSError) as error:
            wrong.append(str(error))
    return sorted(lessons, key=lambda lesson: (lesson.number, lesson.name)), wrong


def model_of(lesson: Lesson, step: Step) -> str:
    """The name of the model that a step asks about."""
    return step.model or lesson.model


def posed(lesson: Lesson, step: Step) -> dict[str, Any]:
    """What a browser may know before the answer. Raises ValueError where the model is not there."""
    name = model_of(lesson, step)
    models.translator(name)  # so that the question's own turn does not wait for another
    return _posed(*_place(lesson), step.name, name, models.version(name))


def told(lesson: Lesson, step: Step) -> dict[str, Any]:
    """The answer, and what it means."""
    name = model_of(lesson, step)
    models.translator(name)
    return _told(*_place(lesson), step.name, name, models.version(name))


def find(steps: list[Step], name: str) -> Step:
    return next(step for step in steps if step.name == name)


def _place(lesson: Lesson) -> tuple[Path, int]:
    path = models.LESSONS / f"{lesson.name}.md"
    return path, path.stat().st_mtime_ns


@kept(100, turn=False, seconds=3600)
def _read(path: Path, changed: int) -> Lesson:
    return read(path)


@kept(100, "Asking the model", seconds=3600)
def _posed(path: Path, changed: int, step: str, model: str, version: tuple[int, ...]) -> dict[str, Any]:
    return pose(find(_read(path, changed).steps, step), models.translator(model))


@kept(100, "Asking the model", seconds=3600)
def _told(path: Path, changed: int, step: str, model: str, version: tuple[int, ...]) -> dict[str, Any]:
    return truth(find(_read(path, changed).steps, step), models.translator(model))
