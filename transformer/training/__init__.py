"""Training: the loss, the schedule of the learning rate, and a loop that yields a report for each step."""

from transformer.training.loop import Diverged, StepReport, Trainer, train
from transformer.training.schedule import learning_rate, teacher_forcing

__all__ = ["Diverged", "StepReport", "Trainer", "learning_rate", "teacher_forcing", "train"]
