"""An exercise: a function or class to write, inputs to test it on, our solution, and known mistakes.

A mistake is a change of our solution's options, so it computes exactly what the wrong code would. All sizes are
random, so that a hard-coded size is wrong for some input.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

# Files through which the process that runs a student's file reports to its parent.
MESSAGES_FILE = "said.jsonl"  # a line for each exercise that was begun, and for each verdict
STACK_FILE = "stuck.txt"  # the stack at the time limit
Slip = tuple[str, str]  # a pattern of "ErrorType: message", and advice about such an error

SLIPS: tuple[Slip, ...] = (
    (
        r"before Module.__init__\(\) call",
        "`super().__init__()` is missing: it has to be the first line of `__init__`, before any layer is assigned.",
    ),
    (
        "only supports boolean masks|mask to be .*[Bb]ool|bitwise_.* not implemented for '(Float|Double)'",
        "The mask is bool, True where a query may look; `&`, `~` and `masked_fill` work on bool, not on floats. "
        "Compare (`ids != pad_id`) rather than multiply.",
    ),
    (
        r"unary ~: 'NoneType'|masked_fill\(\).*got \((bool|NoneType)|where\(\).*(NoneType|bool)"
        r"|'NoneType' object has no attribute|operand type\(s\) for .*'NoneType'",
        "The mask may be None, which hides nothing: write `if mask is not None:` before you use it.",
    ),
    (
        "missing the required .forward. function",
        "There is no `forward`: write what happens to the inputs there, under that name.",
    ),
    (
        r"takes .* positional arguments? but|missing \d+ required positional arguments?",
        "It takes other arguments than the stub does: keep the first line of each function as it was.",
    ),
    (
        "view size is not compatible",
        "After `transpose`, `view` needs `.contiguous()` before it; or use `reshape`, or `flatten(-2)`.",
    ),
    (
        r"not supported between instances of 'Tensor'|Boolean value of Tensor with more than one value",
        "A tensor is not one truth: `if tensor:` works for a single number; use `torch.where`, `masked_fill` or "
        "`.any()`. For an optional mask, write `if mask is not None`.",
    ),
)


class Case(NamedTuple):
    """Inputs in the order in which the student's function takes them, and what is special about them."""

    about: str
    inputs: dict[str, Any]

    def fresh(self) -> dict[str, Any]:
        """Return a copy of the inputs, since a solution may change them in place."""
        return copy.deepcopy(self.inputs)

    def shapes(self) -> str:
        """Return the inputs as a student sees them: "q [2, 4, 3, 8], n_heads = 4"."""
        return ", ".join(_as_text(name, value) for name, value in self.inputs.items() if not callable(value))


class Draw(random.Random):
    """Draws the sizes and numbers of an exercise's inputs; the same seed draws the same."""

    def sizes(self, count: int, low: int = 2, high: int = 8) -> list[int]:
        """Return `count` different sizes from `low` to `high`, so that exchanged dimensions do not fit."""
        return self.sample(range(low, high + 1), count)

    def normal(self, *shape: int) -> Tensor:
        """Return standard normal numbers."""
        return torch.randn(*shape, generator=torch.Generator().manual_seed(self.getrandbits(48)))

    def mask(self, *shape: int) -> Tensor:
        """Return a mask that leaves every query its first key, and hides its last."""
        mask = self.normal(*shape) > 0
        mask[..., 0], mask[..., -1] = True, False
        return mask


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, Tensor):
        return f"{name} {list(value.shape)}"
    if isinstance(value, dict):  # the weights of a module
        return f"random {name}"
    if isinstance(value, list):
        return f"{len(value)} {name}"
    return f"{name} = {value}"


class KnownMistake(NamedTuple):
    """Options of the solution that make it wrong, and an explanation of the mistake for students."""

    change: dict[str, Any]
    explanation: str
    styles: tuple[dict[str, Any], ...] = ()  # instead of the exercise's


@dataclass(frozen=True)
class Exercise:
    """An exercise. `solution(**inputs, **options)` is our solution, whose options only serve to make mistakes."""

    name: str  # of the function or class to write
    file: str  # the stub, in docs/exercises
    solution: Callable[..., Any]
    cases: Callable[[Draw], list[Case]]
    mistakes: tuple[KnownMistake, ...]
    implementation: str  # where Headlight has it: "attend in transformer/attention.py"
    styles: tuple[dict[str, Any], ...] = ({},)  # options that only change the results of wrong solutions
    slips: tuple[Slip, ...] = ()
    aliases: tuple[str, ...] = ()  # other names under which tutorials write it
    call: Callable[[Any, dict[str, Any]], Any] = field(default=lambda attempt, inputs: attempt(*inputs.values()))

    def draw_cases(self, seed: int = 0) -> list[Case]:
        """Return the inputs of a seed."""
        return self.cases(Draw(f"{self.name} {seed}"))


class Unfit(Exception):
    """The student's code cannot be tried; the message is a sentence for the student."""


def require_module(attempt: Any) -> None:
    """Raise Unfit where a class of a network is expected and something else was written."""
    if not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
        raise Unfit("It should be a class that derives from `nn.Module`.")


def instantiate(attempt: Any, arguments: tuple[Any, ...], weights: dict[str, Tensor]) -> nn.Module:
    """Return an instance of a student's class with these weights. Raises Unfit where its weights have other names."""
    require_module(attempt)
    module = attempt(*arguments)
    state = dict(module.state_dict())
    missing = [name for name in weights if name not in state]
    extra = [name for name in state if name not in weights]
    if missing or extra:
        also = f"; it has also {_listed(extra)}" if extra else ""
        lacks = f"It lacks the parameter{'s' * (len(missing) != 1)} {_listed(missing)}" if missing else "It has all"
        raise Unfit(f"{lacks}{also}. Leave the layers of the stub's `__init__` as they are.")
    for name, weight in weights.items():
        if state[name].shape != weight.shape:
            hint = "; the paper has one number a feature, not a scalar" if state[name].numel() == 1 else ""
            raise Unfit(f"`{name}` has the shape {list(state[name].shape)}; {list(weight.shape)} is expected{hint}.")
    module.load_state_dict(weights)
    return module.eval()


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


class ExerciseState(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    NOT_WRITTEN = "not written"


@dataclass(frozen=True)
class Verdict:
    """The result of an exercise; in `messages` the mistake comes first, then the inputs and numbers that show it."""

    name: str
    state: ExerciseState
    messages: tuple[str, ...]
