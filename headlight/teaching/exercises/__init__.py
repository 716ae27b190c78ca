"""The exercises of docs/exercises: compare a student's code with our solution on random inputs.

`check(path)` runs the file in a process of its own, and returns a `Verdict` for each exercise in it.
"""

from __future__ import annotations

from headlight.folders import EXERCISES as FOLDER
from headlight.teaching.exercises.attention import ATTEND, MULTI_HEAD
from headlight.teaching.exercises.decoding import BEAM, GREEDY
from headlight.teaching.exercises.exercise import Exercise, Verdict
from headlight.teaching.exercises.layers import DECODER_LAYER, ENCODER_LAYER, FEED_FORWARD
from headlight.teaching.exercises.loop import BATCHES, TRAIN
from headlight.teaching.exercises.masks import LOOK_AHEAD_MASK, PADDING_MASK, TARGET_MASK
from headlight.teaching.exercises.network import DECODER_STACK, EMBEDDING, ENCODER_STACK, TRANSFORMER
from headlight.teaching.exercises.norm import LAYER_NORM
from headlight.teaching.exercises.positions import POSITIONS
from headlight.teaching.exercises.running import check
from headlight.teaching.exercises.training import LABEL_SMOOTHING, NOAM, TEACHER_FORCING

__all__ = ["EXERCISES", "FOLDER", "Verdict", "check", "stub"]

# In the order in which they build on each other.
_ORDER = (
    *(ATTEND, MULTI_HEAD, POSITIONS, PADDING_MASK, LOOK_AHEAD_MASK, TARGET_MASK, LAYER_NORM, FEED_FORWARD, EMBEDDING),
    *(ENCODER_LAYER, DECODER_LAYER, ENCODER_STACK, DECODER_STACK, TRANSFORMER),
    *(TEACHER_FORCING, LABEL_SMOOTHING, NOAM, BATCHES, TRAIN, GREEDY, BEAM),
)
EXERCISES: dict[str, Exercise] = {exercise.name: exercise for exercise in _ORDER}


def following(right: set[str]) -> Exercise | None:
    """Return the first exercise that is not among those that are right; None where all are."""
    return next((exercise for exercise in EXERCISES.values() if exercise.name not in right), None)


def stub(file: str) -> str:
    """Return the text of an exercise's file, such as "attend.py"."""
    return (FOLDER / file).read_text(encoding="utf-8")
