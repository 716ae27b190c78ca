"""A student's progress: a small file next to the solutions, with what was right and the attempts at the rest.

The file is for the student alone; deleting it resets the progress and nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from headlight.folders import EXERCISES as FOLDER
from headlight.teaching.exercises.exercise import ExerciseState, Verdict
from transformer.files import read_json, write_json

PROGRESS_FILE = ".exercises.json"
MAX_TRIES = 3  # wrong attempts after which a student is shown where our solution is


@dataclass
class Progress:
    right: set[str] = field(default_factory=set)
    tries: dict[str, int] = field(default_factory=dict)  # wrong verdicts so far

    def add(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            if verdict.state is ExerciseState.RIGHT:
                self.right.add(verdict.name)
                continue
            self.right.discard(verdict.name)
            if verdict.state is ExerciseState.WRONG:
                self.tries[verdict.name] = self.tries.get(verdict.name, 0) + 1


def read(folder: Path, names: Iterable[str]) -> Progress:
    """Return the stored progress with these exercises; empty where the file is missing or damaged."""
    valid = set(names)
    try:
        content = read_json(folder / PROGRESS_FILE)
    except (OSError, ValueError):
        return Progress()
    content = content if isinstance(content, dict) else {}
    right, tries = content.get("right"), content.get("tries")
    return Progress(
        {name for name in right if isinstance(name, str) and name in valid} if isinstance(right, list) else set(),
        {name: count for name, count in tries.items() if name in valid and type(count) is int and count > 0}
        if isinstance(tries, dict)
        else {},
    )


def write(folder: Path, progress: Progress) -> None:
    """Write the progress file, except in the folder of the stubs or where writing fails."""
    if folder.resolve() == FOLDER.resolve():
        return
    with contextlib.suppress(OSError, ValueError):
        write_json(folder / PROGRESS_FILE, {"right": sorted(progress.right), "tries": progress.tries})
