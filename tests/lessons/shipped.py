"""The lessons that ship, and what computes them with the shipped models."""

from functools import cache
from pathlib import Path

from headlight.checkpoints import load_translator
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base
from headlight.teaching.lessons.reading import Step
from transformer import Translator

CHECKPOINTS = Path(__file__).resolve().parents[2] / "checkpoints"
LESSONS = CHECKPOINTS.with_name("lessons") / "en"


@cache
def translator(name: str) -> Translator:
    return load_translator(CHECKPOINTS / name)


def computer(step: Step) -> LessonComputer:
    return LessonComputer(translator, lambda name: CHECKPOINTS / name, base(step))
