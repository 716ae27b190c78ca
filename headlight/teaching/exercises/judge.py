"""Compare what a student wrote with our solution, case by case, and find the mistake that explains the difference."""

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

MAX_TRACEBACK_LINES = 3  # shown to the student


class Result(NamedTuple):
    case: Case
    answer: Any
    expected: Any

    @property
    def right(self) -> bool:
        return alike(self.answer, self.expected)


def judge(exercise: Exercise, attempt: Any, folder: Path, seed: int = 0) -> Verdict:
    """Judge `attempt` on the inputs that `seed` draws.

    `folder` holds the student's files; only their lines of a traceback are shown.
    """

    def verdict(state: ExerciseState, *messages: str) -> Verdict:
        return Verdict(exercise.name, state, tuple(filter(None, messages)))

    results: list[Result] = []
    failure: tuple[Case, BaseException] | None = None
    notes: dict[str, None] = {}  # in order, each once
    for case in exercise.draw_cases(seed):
        inputs = case.fresh()
        torch.manual_seed(0)
        try:
            with torch.no_grad():
                answer = in_torch(exercise.call(attempt, inputs))
        except Unfit as reason:
            return verdict(ExerciseState.WRONG, str(reason))
        except (Exception, SystemExit) as error:
            if isinstance(error, NotImplementedError) and not error.args:  # PyTorch's own have a message
                return verdict(ExerciseState.NOT_WRITTEN, _not_written(exercise, error))
            failure = case, error
            break
        result = Result(case, answer, exercise.solution(**case.inputs))
        if complaint := unfit(answer, result.expected):
            return verdict(ExerciseState.WRONG, complaint, _case_text(case))
        notes |= dict.fromkeys(filter(None, (not_bool(answer, result.expected), _changed_input(case.inputs, inputs))))
        results.append(result)
    wrong = [result for result in results if not result.right]
    mistake = _mistake(exercise, results) if wrong else ()
    if failure is not None and not mistake:
        at, raised = failure
        return verdict(ExerciseState.WRONG, _advice(exercise, raised), *error_lines(raised, folder), _case_text(at))
    if wrong:
        sentences = mistake or _unknown_mistake(results)
        return verdict(
            ExerciseState.WRONG,
            *sentences,
            *notes,
            _case_text(wrong[0].case),
            difference(wrong[0].answer, wrong[0].expected),
        )
    if notes:
        return verdict(ExerciseState.WRONG, *notes)
    return verdict(ExerciseState.RIGHT, f"The same as ours on {len(results)} input{'s' * (len(results) != 1)}.")


def _not_written(exercise: Exercise, error: BaseException) -> str:
    function = traceback.extract_tb(error.__traceback__)[-1].name
    if function in (exercise.name, "forward"):
        return "It is still as the stub has it. Fill in its body, then check again."
    return f"It calls `{function}`, which is not written yet. Write that first."


def _mistake(exercise: Exercise, results: list[Result]) -> tuple[str, ...]:
    """Return the explanation of the known mistake that gives the very same results, or of two mistakes at once."""
    usual = exercise.styles
    alone = [(mistake.change, (mistake.explanation,), mistake.styles or usual) for mistake in exercise.mistakes]
    paired = (
        (first.change | second.change, (first.explanation, second.explanation), first.styles or second.styles or usual)
        for first, second in combinations(exercise.mistakes, 2)
        if not first.change.keys() & second.change.keys()
    )
    for change, explanations, styles in chain(alone, paired):
        for style in styles:
            if all(_reproduces(exercise, {**style, **change}, result) for result in results):
                return explanations
    return ()


def _reproduces(exercise: Exercise, change: dict[str, Any], result: Result) -> bool:
    try:
        return alike(result.answer, exercise.solution(**result.case.inputs, **change))
    except (RuntimeError, ValueError, IndexError, ArithmeticError):  # the mistake itself fails on these sizes
        return False


def _unknown_mistake(results: list[Result]) -> tuple[str, ...]:
    """Return notes on a mistake that is not among the known ones."""
    if any(_has_nan(result.answer) and not _has_nan(result.expected) for result in results):
        return (
            "Some of it is not a number (NaN): a softmax over nothing but -inf gives that, a division by 0, or the "
            "root or the logarithm of a negative number.",
        )
    right = [result.case.about for result in results if result.right and result.case.about]
    return ("It differs from ours." + (f" It is right {', and '.join(right)}." if right else ""),)


def _has_nan(value: Any) -> bool:
    return any(tensor.is_floating_point() and bool(tensor.isnan().any()) for tensor in tensors(value))


def _changed_input(before: dict[str, Any], after: dict[str, Any]) -> str:
    for name, value in before.items():
        if isinstance(value, Tensor) and not alike(after[name], value):
            return (
                f"`{name}` is changed in place, so that whoever calls this finds another one afterwards. Write "
                "`x = x + ...` rather than `x += ...`, and call no method that ends in an underscore on it."
            )
    return ""


def _case_text(case: Case) -> str:
    return f"Seen {case.about}{': ' if case.about else 'on '}{case.shapes()}."


def _advice(exercise: Exercise, error: BaseException) -> str:
    words = f"{type(error).__name__}: {error}"
    return next((sentence for pattern, sentence in (*exercise.slips, *SLIPS) if re.search(pattern, words)), "")


def error_lines(error: BaseException, folder: Path) -> Iterator[str]:
    """Return the lines of the student's own files that led to an error, and its message."""
    if isinstance(error, SyntaxError):
        yield f"{Path(error.filename or '').name}, line {error.lineno}: {error.msg}: {(error.text or '').strip()}"
        return
    own_frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == folder]
    for frame in own_frames[-MAX_TRACEBACK_LINES:]:
        yield f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}: {frame.line}"
    if isinstance(error, SystemExit):
        yield "It ends the program (`exit`); leave that out."
    else:
        yield short(f"{type(error).__name__}: {error}")
