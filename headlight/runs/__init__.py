"""Training: a flat loop that yields reports, the folder in which a run lives, and the worker that trains it.

A page or a script starts a run with `start(Recipe(...), "runs/NAME")`, watches it with `status` and `Metrics`, and
steers it with `pause`, `stop`, `resume`, `extend`, `kill` and `delete`.
"""

from headlight.evaluation import MIN_SENTENCES, Evaluation, Evaluator
from headlight.runs.export import export
from headlight.runs.folder import RUNS, RunFolder, run_path
from headlight.runs.metrics import Metrics
from headlight.runs.notes import Notes, notes, save_notes
from headlight.runs.recipe import Recipe, differences
from headlight.runs.run_status import Status, status, statuses
from headlight.runs.settings import DERIVED_FIELDS, SETTING_HELP
from headlight.runs.steer import delete, extend, kill, pause, resume, start, stop
from headlight.runs.worker import work
from transformer.training.loop import Diverged, StepReport, Trainer, train
from transformer.training.schedule import learning_rate, teacher_forcing

__all__ = [
    "DERIVED_FIELDS",
    "SETTING_HELP",
    "RUNS",
    "Diverged",
    "Evaluation",
    "Evaluator",
    "MIN_SENTENCES",
    "Metrics",
    "Notes",
    "Recipe",
    "RunFolder",
    "Status",
    "StepReport",
    "Trainer",
    "delete",
    "differences",
    "export",
    "extend",
    "kill",
    "save_notes",
    "learning_rate",
    "notes",
    "pause",
    "resume",
    "run_path",
    "start",
    "status",
    "statuses",
    "stop",
    "teacher_forcing",
    "train",
    "work",
]
