"""The command line's check of exercises: `python -m headlight check FILE`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from headlight.teaching.exercises.exercise import State
from headlight.teaching.exercises.running import check as judged
from headlight.teaching.exercises.table import following

Verb = Callable[[Callable[[argparse.Namespace], object], str], argparse.ArgumentParser]


def add_verbs(verb: Verb) -> None:
    """Adds the verb by means of `verb(run, help)`, which makes its parser."""
    sub = verb(check, "Run your solution of an exercise of docs/exercises, and compare it with ours.")
    sub.add_argument("file", type=Path, help="your script; it may hold several exercises")


def check(options: argparse.Namespace) -> int:
    """0 where all that the file holds is right."""
    verdicts = judged(options.file)
    titles = {State.RIGHT: "right", State.WRONG: "not yet right", State.NOT_WRITTEN: "not written yet"}
    for verdict in verdicts:
        print(f"{verdict.name}: {titles[verdict.state]}")
        print(*(f"  {line}" for line in verdict.says), sep="\n")
    if any(verdict.state is not State.RIGHT for verdict in verdicts):
        return 1
    after = following({verdict.name for verdict in verdicts})
    print(f"Next: {after.name}, in docs/exercises/{after.file}" if after else "That was the last exercise. Well done.")
    return 0
