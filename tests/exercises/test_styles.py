"""Solutions in many styles, right ones and wrong ones, and what is said of them."""

from collections.abc import Callable
from inspect import getdoc
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headlight.teaching.exercises import EXERCISES, Verdict
from headlight.teaching.exercises.exercise import ExerciseState
from headlight.teaching.exercises.judge import judge
from tests.exercises import right, wrong


def attempts(module: ModuleType) -> list[Any]:
    return [pytest.param(name, value, id=name) for name, value in vars(module).items() if "__" in name.strip("_")]


def judged(name: str, value: Callable[..., Any], seed: int = 0) -> Verdict:
    return judge(EXERCISES[name.partition("__")[0]], value, Path(__file__).parent, seed)


@pytest.mark.parametrize(("name", "value"), attempts(right))
def test_a_right_solution_is_right_in_any_style(name: str, value: Callable[..., Any]) -> None:
    for seed in range(3):
        verdict = judged(name, value, seed)
        assert verdict.state is ExerciseState.RIGHT, (seed, verdict.messages)


@pytest.mark.parametrize(("name", "value"), attempts(wrong))
def test_a_wrong_solution_is_told_what_is_wrong(name: str, value: Callable[..., Any]) -> None:
    for seed in range(2):
        verdict = judged(name, value, seed)
        assert verdict.state is ExerciseState.WRONG
        assert verdict.messages[0].startswith(getdoc(value) or "no words"), verdict.messages


def test_a_verdict_is_the_same_each_time_and_names_its_sizes() -> None:
    value = wrong.attend__root_8
    verdict = judged("attend__root_8", value)
    assert verdict == judged("attend__root_8", value)
    assert verdict.messages != judged("attend__root_8", value, 1).messages
    assert any(line.startswith("Seen ") and " q [" in line for line in verdict.messages)
