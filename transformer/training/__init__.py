"""Training: a flat loop that yields reports, the folder in which a run lives, and the worker that trains it.

A page or a script starts a run with `start(Recipe(...), "runs/NAME")`, watches it with `status` and `Metrics`, and
steers it with `pause`, `stop`, `resume`, `extend`, `kill` and `delete`.
"""

from transformer.training.evaluation import FEW, Evaluation, Evaluator
from transformer.training.export import export
from transformer.training.folder import RUNS, RunFolder, run_path
from transformer.training.loop import Diverged, StepReport, Trainer, train
from transformer.training.metrics import Metrics
from transformer.training.notes import Notes, keep_notes, notes
from transformer.training.recipe import Recipe, differences
from transformer.training.run_status import Status, status, statuses
from transformer.training.schedule import learning_rate, teacher_forcing
from transformer.training.settings import GIVEN, HELP
from transformer.training.steer import delete, extend, kill, pause, resume, start, stop
from transformer.training.worker import work

__all__ = [
    "GIVEN",
    "FEW",
    "HELP",
    "RUNS",
    "Diverged",
    "Evaluation",
    "Evaluator",
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
    "keep_notes",
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
