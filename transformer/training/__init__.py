"""Training: a flat loop that yields reports, and the folder in which a run lives."""

from transformer.training.evaluation import Evaluation, Evaluator
from transformer.training.loop import StepReport, train
from transformer.training.run import Run
from transformer.training.schedule import learning_rate

__all__ = ["Evaluation", "Evaluator", "Run", "StepReport", "learning_rate", "train"]
