"""Lessons from the command line: `python -m headlight lesson FILE [--handout FILE] [--answers]`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import cache
from pathlib import Path

from headlight import folders
from headlight.checkpoints import load_translator
from headlight.teaching.lessons.handout import handout
from headlight.teaching.lessons.measuring import Measuring
from headlight.teaching.lessons.posing import base, failing, introduction, pose, truth
from headlight.teaching.lessons.reading import Step, read
from transformer.files import write_text

Verb = Callable[[Callable[[argparse.Namespace], int | None], str], argparse.ArgumentParser]


def add_verbs(verb: Verb) -> None:
    """Adds `lesson` by means of `verb(run, help)`, which makes its parser."""
    sub = verb(lesson, "Check a lesson: read it, compute every step, and say which of its claims do not hold.")
    sub.add_argument("file", type=Path, help='the lesson: a file, or one that ships, such as "it"')
    sub.add_argument("--checkpoints", type=Path, default=folders.checkpoints(), help="the folder of the models")
    sub.add_argument("--handout", type=Path, metavar="FILE", help="write it as a page to print, in HTML")
    sub.add_argument("--answers", action="store_true", help="with the answers, for the teacher")


def lesson(options: argparse.Namespace) -> int:
    given = read(folders.lesson(options.file))
    open_once = cache(lambda name: load_translator(options.checkpoints / name))

    @cache
    def measuring(step_name: str) -> Measuring:
        step = given.steps[given.step(step_name)]
        return Measuring(open_once, lambda name: options.checkpoints / name, base(step))

    if options.handout:
        write_text(options.handout, handout(given, lambda step: measuring(step.name), options.answers))
        return 0
    wrong = 0
    for step in given.steps:
        problems = _problems(step, measuring(step.name))
        wrong += bool(problems)
        print(f"{step.title}: {'; '.join(problems) or 'holds'}")
    return 1 if wrong else 0


def _problems(step: Step, measuring: Measuring) -> list[str]:
    try:
        introduction(step, measuring), pose(step, measuring), truth(step, measuring)
        return [f"line {step.line}: the claim {claim} does not hold" for claim in failing(step, measuring)]
    except ValueError as error:
        return [str(error)]
