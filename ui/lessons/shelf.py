"""The lessons, and what the library says of their steps, computed once for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.teaching.lessons import Lesson, LessonComputer, Step, base, introduction, pose, read, truth
from ui.state import models
from ui.state.cache import cached


@dataclass(frozen=True)
class PosedStep:
    """A step with the question as its model answers it.

    `truth` goes to no browser before a guess has come from there.
    """

    text: str
    posed: dict[str, Any]
    truth: dict[str, Any]


def shelf() -> tuple[list[Lesson], list[str]]:
    """Return the lessons in their order, and what is wrong with the files that can't be read."""
    lessons, wrong = [], []
    for path in sorted(models.LESSONS.glob("[!.]*.md")):
        try:
            lessons.append(_read(path, path.stat().st_mtime_ns))
        except (ValueError, OSError) as error:
            wrong.append(str(error))
    return sorted(lessons, key=lambda lesson: (lesson.number, lesson.name)), wrong


def posed_step(lesson: Lesson, step: Step) -> PosedStep:
    """Return the question with its answer. Raises ValueError where the model is not there, or can't answer."""
    models.translator(step.model)  # it says where there is none
    path = models.LESSONS / f"{lesson.name}.md"
    return _posed_step(path, path.stat().st_mtime_ns, step.name, models.version(step.model))


def measuring(step: Step) -> LessonComputer:
    """Return what computes a step's answers, on the models that everybody shares."""
    return LessonComputer(models.translator, models.model_folder, base(step))


@cached(100, turn=False, seconds=3600)
def _read(path: Path, changed: int) -> Lesson:
    return read(path)


@cached(100, "Asking the model", seconds=3600)
def _posed_step(path: Path, changed: int, name: str, version: tuple[int, ...]) -> PosedStep:
    lesson = _read(path, changed)
    step = lesson.steps[lesson.step(name)]
    of = measuring(step)
    return PosedStep(introduction(step, of), pose(step, of), truth(step, of))
