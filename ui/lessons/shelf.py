"""The lessons, and what the library says of their steps, computed once for everybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headlight.folders import translated_lesson
from headlight.language import current, gettext, translatable
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, introduction, pose, truth
from headlight.teaching.lessons.reading import YOUR_SENTENCE, Lesson, Step, read, transfer_step
from headlight.teaching.lessons.translating import in_language
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
            lessons.append(_read(path, _changed(path), current()))
        except (ValueError, OSError) as error:
            wrong.append(str(error))
    return sorted(lessons, key=lambda lesson: (lesson.number, lesson.name)), wrong


def with_sentence(lesson: Lesson, sentence: str) -> Lesson:
    """Return the lesson with the step about a sentence of one's own at its end; it is empty until one was typed."""
    step = transfer_step(lesson, sentence)
    return replace(lesson, steps=(*lesson.steps, step)) if step else lesson


def is_untyped(step: Step) -> bool:
    """Return whether a step waits for a sentence."""
    return step.name == YOUR_SENTENCE and not step.query["text"]


def posed_step(lesson: Lesson, step: Step) -> PosedStep:
    """Return the question with its answer. Raises ValueError where the model is not there, or can't answer."""
    if is_untyped(step):
        raise ValueError(gettext("Type a sentence first: the last question is about it."))
    models.translator(step.model)  # raises where there is no such model
    path = models.LESSONS / f"{lesson.name}.md"
    sentence = step.query["text"] if step.name == YOUR_SENTENCE else ""
    return _posed_step(path, _changed(path), current(), step.name, models.version(step.model), sentence)


def measuring(step: Step) -> LessonComputer:
    """Return the computer of a step's answers, with the models that all sessions share."""
    return LessonComputer(models.translator, models.model_folder, base(step))


def _changed(path: Path) -> tuple[int, ...]:
    """Return when a lesson was changed, and its translation into the current language."""
    files = (path, translated_lesson(path, current()))
    return tuple(file.stat().st_mtime_ns for file in files if file.exists())


@cached(100, turn=False, seconds=3600)
def _read(path: Path, changed: tuple[int, ...], language: str) -> Lesson:
    return in_language(path, read(path), language)


@cached(100, translatable("Asking the model"), seconds=3600)
def _posed_step(
    path: Path, changed: tuple[int, ...], language: str, name: str, version: tuple[int, ...], sentence: str
) -> PosedStep:
    lesson = with_sentence(_read(path, changed, language), sentence)
    step = lesson.steps[lesson.step(name)]
    of = measuring(step)
    return PosedStep(introduction(step, of), pose(step, of), truth(step, of))
