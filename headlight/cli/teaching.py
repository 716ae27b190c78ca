"""The commands `lesson FILE [--handout FILE] [--answers]`, `concepts FILE [--answers]` and `check FILE`."""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

from headlight import folders
from headlight.checkpoints import load_translator
from headlight.cli.checkpoints import Verb
from headlight.language import LANGUAGES, ORIGINAL_LANGUAGE, current, using
from headlight.teaching.concepts import read_questions, sheet
from headlight.teaching.exercises import EXERCISES, following, progress
from headlight.teaching.exercises.exercise import ExerciseState
from headlight.teaching.exercises.running import check as judged
from headlight.teaching.lessons.handout import handout
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, failing, introduction, pose, truth
from headlight.teaching.lessons.reading import Step, read
from headlight.teaching.lessons.translating import in_language
from transformer.files import write_text


def add_verbs(verb: Verb) -> None:
    """Add the subcommands `lesson`, `concepts` and `check`; `verb(run, help)` returns the parser of one."""
    sub = verb(check, "Run your solution of an exercise of docs/exercises, and compare it with ours.")
    sub.add_argument("file", type=Path, help="your script or notebook; it may hold several exercises")
    sub = verb(lesson, "Check a lesson: read it, compute every step, and say which of its claims do not hold.")
    sub.add_argument("file", type=Path, help='the lesson: a file, or one that ships, such as "it"')
    sub.add_argument("--checkpoints", type=Path, default=folders.checkpoints(), help="the folder of the models")
    sub.add_argument("--handout", type=Path, metavar="FILE", help="write it as a page to print, in HTML")
    sub.add_argument("--answers", action="store_true", help="with the answers, for the teacher")
    text = "of the handout, where it is translated"
    sub.add_argument("--language", choices=LANGUAGES, default=ORIGINAL_LANGUAGE, help=text)
    sub = verb(concepts, "Write the twenty questions of docs/concepts.md as a page to print, in HTML.")
    sub.add_argument("file", type=Path, help="the file to write")
    sub.add_argument("--answers", action="store_true", help="with the key, for the teacher")


def concepts(options: argparse.Namespace) -> None:
    write_text(options.file, sheet(read_questions(folders.CONCEPTS), options.answers))


def lesson(options: argparse.Namespace) -> int:
    with using(options.language):
        return _lesson(options)


def _lesson(options: argparse.Namespace) -> int:
    path = folders.lesson(options.file)
    parsed = in_language(path, read(path), current())
    open_once = cache(lambda name: load_translator(options.checkpoints / name))

    @cache
    def measuring(step_name: str) -> LessonComputer:
        step = parsed.steps[parsed.step(step_name)]
        return LessonComputer(open_once, lambda name: options.checkpoints / name, base(step))

    if options.handout:
        write_text(options.handout, handout(parsed, lambda step: measuring(step.name), options.answers))
        return 0
    wrong = 0
    for step in parsed.steps:
        problems = _problems(step, measuring(step.name))
        wrong += bool(problems)
        print(f"{step.title}: {'; '.join(problems) or 'holds'}")
    return 1 if wrong else 0


def _problems(step: Step, measuring: LessonComputer) -> list[str]:
    try:
        introduction(step, measuring), pose(step, measuring), truth(step, measuring)
        return [f"line {step.line}: the claim {claim} does not hold" for claim in failing(step, measuring)]
    except ValueError as error:
        return [str(error)]


def check(options: argparse.Namespace) -> int:
    """Check the solutions in a file; return the exit status: 0 if all of them are right, otherwise 1."""
    verdicts = judged(options.file)
    titles = {
        ExerciseState.RIGHT: "right",
        ExerciseState.WRONG: "not yet right",
        ExerciseState.NOT_WRITTEN: "not written yet",
    }
    folder = options.file.resolve().parent
    so_far = progress.read(folder, EXERCISES)
    so_far.add(verdicts)
    progress.write(folder, so_far)
    for verdict in verdicts:
        print(f"{verdict.name}: {titles[verdict.state]}")
        print(*(f"  {line}" for line in verdict.messages), sep="\n")
        if verdict.state is ExerciseState.WRONG and so_far.tries[verdict.name] >= progress.MAX_TRIES:
            print(f"  Try {so_far.tries[verdict.name]}. To compare: ours is {EXERCISES[verdict.name].implementation}.")
    if any(verdict.state is not ExerciseState.RIGHT for verdict in verdicts):
        return 1
    after = following(so_far.right)
    print(
        f"Next: {after.name}, in docs/exercises/{after.file}"
        if after
        else "That was the last exercise. Well done. Now train your own Transformer: docs/exercises/reverse.py"
    )
    return 0
