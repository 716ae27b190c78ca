"""A model from elsewhere, examined and turned into a native folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoints.doctor import Diagnosis
from transformer.checkpoints.questions import Answers, Question

Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done


@dataclass(frozen=True)
class Examination:
    """What a source is, before anything is made of it."""

    title: str  # "This is the model of “Building a transformer from the ground up”"
    form: str | None  # the form's name; None where no form fits
    size: int  # bytes
    tensors: int
    facts: tuple[tuple[str, str], ...]  # what was read from the file: ("Layers", "6 and 6"), ...
    folded: tuple[tuple[str, str], ...]  # what is written differently so that the output stays the same
    questions: tuple[Question, ...]  # what is still to be answered, given the answers so far
    warnings: tuple[str, ...]
    diagnosis: Diagnosis | None  # where no form fits


def examine(source: Path, answers: Answers | None = None) -> Examination:
    """Reads names, shapes and facts, not the weights. Raises Refused for what cannot be, or must not be, opened."""
    raise NotImplementedError


def import_model(
    source: Path, out: Path, answers: Answers | None = None, progress: Progress | None = None
) -> Examination:
    """Writes the native folder `out`, whole or not at all. Raises Refused, also where a required question is open."""
    raise NotImplementedError
