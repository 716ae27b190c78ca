"""The exercises of docs/exercises: what a student wrote, compared with ours on random inputs.

`check(path)` runs the file in a process of its own, and returns a `Verdict` for each exercise in it.
"""

from transformer.exercises.running import check
from transformer.exercises.stubs import FOLDER, stub
from transformer.exercises.table import EXERCISES
from transformer.exercises.verdict import Verdict

__all__ = ["EXERCISES", "FOLDER", "Verdict", "check", "stub"]
