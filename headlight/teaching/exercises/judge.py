"""Compares what a student wrote with ours, case by case, and finds the mistake that explains the difference."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headlight.teaching.exercises.exercise import SLIPS, Case, Exercise, ExerciseState, Unfit, Verdict
from headlight.teaching.exercises.values import alike, difference, in_torch, not_bool, tensors, unfit
from transformer.quoting import short

FRAMES = 3  # lines of a traceback that are shown


class Result(NamedTuple):
    case: Case
    got: Any
    expected: Any

    @property
    def right(self) -> bool:
        return alike(self.got, self.expected)


def judge(exercise: Exercise, written: Any, folder: Path, seed: int = 0) -> Verdict:
    """Return what is to be said of `written`, on the inputs that `seed` draws.

    `folder` holds the student's own files: of a traceback, only their lines are shown.
    """

    def verdict(state: ExerciseState, *says: str) -> Verdict:
        return Verdict(exercise.name, state, tuple(filter(None, says)))

    results: list[Result] = []
    failure: tuple[Case, BaseException] | None = None
    notes: dict[str, None] = {}  # in order, each once
    for case in exercise.drawn(seed):
        inputs = case.fresh()
        torch.manual_seed(0)
        try:
            with torch.no_grad():
                got = in_torch(exercise.call(written, inputs))
        except Unfit as reason:
            return verdict(ExerciseState.WRONG, str(reason))
        except (Exception, SystemExit) as error:
            if isinstance(error, NotImplementedError) and not error.args:  # PyTorch's own have words
                return verdict(ExerciseState.NOT_WRITTEN, _to_write(exercise, error))
            failure = case, error
            break
        result = Result(case, got, exercise.solution(**case.inputs))
        if complaint := unfit(got, result.expected):
            return verdict(ExerciseState.WRONG, complaint, _seen(case))
        notes |= dict.fromkeys(filter(None, (not_bool(got, result.expected), _changed(case.inputs, inputs))))
        results.append(result)
    wrong = [result for result in results if not result.right]
    mistake = _mistake(exercise, results) if wrong else ()
    if failure is not None and not mistake:
        at, raised = failure
        return verdict(ExerciseState.WRONG, _slip(exercise, raised), *error_lines(raised, folder), _seen(at))
    if wrong:
        sentences = mistake or _unknown(results)
        return verdict(
            ExerciseState.WRONG, *sentences, *notes, _seen(wrong[0].case), difference(wrong[0].got, wrong[0].expected)
        )
    if notes:
        return verdict(ExerciseState.WRONG, *notes)
    return verdict(ExerciseState.RIGHT, f"The same as ours on {len(results)} input{'s' * (len(results) != 1)}.")


def _to_write(exercise: Exercise, error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1].name
    if where in (exercise.name, "forward"):
        return "It is still as the stub has it. Fill in its body, then check again."
    return f"It calls `{where}`, which is not written yet. Write that first."


def _mistake(exercise: Exercise, results: list[Result]) -> tuple[str, ...]:
    """What one of the known mistakes, or two at once, would say that compute the very same."""
    alone = [(mistake.change, (mistake.says,), mistake.styles or exercise.styles) for mistake in exercise.mistakes]
    paired = (
        ({**first.change, **second.change}, (first.says, second.says), first.styles or second.styles or exercise.styles)
        for first, second in combinations(exercise.mistakes, 2)
        if not first.change.keys() & second.change.keys()
    )
    for change, says, styles in chain(alone, paired):
        for style in styles:
            if all(_computes(exercise, {**style, **change}, result) for result in results):
                return says
    return ()


def _computes(exercise: Exercise, change: dict[str, Any], result: Result) -> bool:
    try:
        return alike(result.got, exercise.solution(**result.case.inputs, **change))
    except (RuntimeError, ValueError, IndexError, ArithmeticError):  # the mistake itself fails on these sizes
        return False


def _unknown(results: list[Result]) -> tuple[str, ...]:
    """What can be said of a mistake that is none of ours."""
    if any(_not_numbers(result.got) and not _not_numbers(result.expected) for result in results):
        return (
            "Some of it is not a number (NaN): a softmax over nothing but -inf gives that, a division by 0, or the "
            "root or the logarithm of a negative number.",
        )
    right = [result.case.about for result in results if result.right and result.case.about]
    return ("It differs from ours." + (f" It is right {', and '.join(right)}." if right else ""),)


def _not_numbers(value: Any) -> bool:
    return any(tensor.is_floating_point() and bool(tensor.isnan().any()) for tensor in tensors(value))


def _changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    for name, value in before.items():
        if isinstance(value, Tensor) and not alike(after[name], value):
            return (
                f"`{name}` is changed in place, so that whoever calls this finds another one afterwards. Write "
                "`x = x + ...` rather than `x += ...`, and call no method that ends in an underscore on it."
            )
    return ""


def _seen(case: Case) -> str:
    return f"Seen {case.about}{': ' if case.about else 'on '}{case.shapes()}."


def _slip(exercise: Exercise, error: BaseException) -> str:
    words = f"{type(error).__name__}: {error}"
    return next((says for pattern, says in (*exercise.slips, *SLIPS) if re.search(pattern, words)), "")


def error_lines(error: BaseException, folder: Path) -> Iterator[str]:
    """An error in a student's words: the lines of their own files that led to it, and what it says."""
    if isinstance(error, SyntaxError):
        yield f"{Path(error.filename or '').name}, line {error.lineno}: {error.msg}: {(error.text or '').strip()}"
        return
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == folder]
    for frame in own[-FRAMES:]:
        yield f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}: {frame.line}"
    if isinstance(error, SystemExit):
        yield "It ends the program (`exit`); leave that out."
    else:
        yield short(f"{type(error).__name__}: {error}")
