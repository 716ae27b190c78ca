"""Training: the folder in which a run lives, the worker that trains it, and functions that steer the worker.

A page or a script starts a run with `start(Recipe(...), "runs/NAME")`, watches it with `status` and `Metrics`, and
steers it with `pause`, `stop`, `resume`, `extend`, `kill` and `delete`.
"""

from headlight.evaluation import MIN_SENTENCES, Evaluation, Evaluator
from headlight.runs.export import export
from headlight.runs.folder import RunFolder, run_path
from headlight.runs.metrics import Metrics
from headlight.runs.notes import Notes, notes, save_notes
from headlight.runs.recipe import Recipe, differences
from headlight.runs.run_status import Status, status, statuses
from headlight.runs.settings import DERIVED_FIELDS, SETTING_HELP
from headlight.runs.steer import delete, extend, kill, pause, resume, start, stop
from headlight.runs.worker import work

__all__ = [
    "DERIVED_FIELDS", "MIN_SENTENCES", "SETTING_HELP", "Evaluation", "Evaluator", "Metrics", "Notes", "Recipe",
    "RunFolder", "Status", "delete", "differences", "export", "extend", "kill", "notes", "pause", "resume", "run_path",
    "save_notes", "start", "status", "statuses", "stop", "work",
]  # fmt: skip
