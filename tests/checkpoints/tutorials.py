"""A small file of each tutorial with random weights, and what its code made of it: repaired, and as it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from headlight.importers.forms.tutorials import TUTORIALS
from headlight.importers.questions import Answers

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "tutorial-checkpoints"
TITLES = {name: form.name for name, form in TUTORIALS.items()}


def facts(name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((FOLDER / name / "facts.json").read_text())
    return values


def file(name: str) -> Path:
    return FOLDER / name / facts(name)["file"]


def expected(name: str, as_run: bool = False) -> dict[str, np.ndarray]:
    """Return the log-probabilities of the tutorial's code, repaired (`tutorial_code.REPAIRED`) or `as_run`."""
    with np.load(FOLDER / name / f"expected{'_as_run' * as_run}.npz") as arrays:
        return dict(arrays)


def answers(name: str, **changes: Any) -> Answers:
    """The truth about a file; which ids start and end a sentence, its log-probabilities do not depend on."""
    known = facts(name)
    return Answers(**{"heads": known["heads"], "pad_id": known["pad_id"], "sos_id": 3, "eos_id": 4, **changes})
