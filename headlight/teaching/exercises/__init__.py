"""The exercises of docs/exercises: what a student wrote, compared with ours on random inputs.

`check(path)` runs the file in a process of its own, and returns a `Verdict` for each exercise in it.
"""

from headlight.teaching.exercises.exercise import Verdict
from headlight.teaching.exercises.running import check
from headlight.teaching.exercises.table import EXERCISES, FOLDER, stub

__all__ = ["EXERCISES", "FOLDER", "Verdict", "check", "stub"]
