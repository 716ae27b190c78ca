"""The Positions page's view, as an address spells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.positions import BASE, FORMULAS, SINGLE_WAVE_SCHEMES
from ui.state.view import PageView, choice, integer, number, parsed, switch, typed_text, whole_number

SCHEMES = ("sinusoidal", "learned", "none", "integer", "normalised", "binary")
assert {*SCHEMES} == {*FORMULAS, "learned"} - {*SINGLE_WAVE_SCHEMES}
OF_ONE_MODEL = ("stored", "relative")  # a table that came with a model, and T5's bias on the scores
MAX_POSITIONS, MAX_WIDTH, MAX_BASE, MAX_CURVES, MAX_SHIFT = 10_000, 1_024, 1_000_000, 8, 100


def _dimensions(text: str) -> tuple[int, ...]:
    dims = (whole_number(part, 0, MAX_WIDTH - 1) for part in text.split(",")[:MAX_CURVES])
    return tuple(dict.fromkeys(dim for dim in dims if dim is not None))


@dataclass(frozen=True)
class PositionsView(PageView):
    """The state of the Positions page."""

    PAGE: ClassVar[str | None] = "positions"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"one", "other"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"word"})

    scheme: str | None = choice(None, (*SCHEMES, *OF_ONE_MODEL))  # None is the model's own, as in `d_model`
    positions: int = integer(1, MAX_POSITIONS, 100)
    base: float = parsed(BASE, lambda text: number(text, 1, MAX_BASE))
    d_model: int | None = integer(1, MAX_WIDTH)
    dims: tuple[int, ...] | None = parsed(None, _dimensions)  # the curves; None is the page's choice
    at: int = integer(0, MAX_POSITIONS - 1, 2)  # the position p that a step starts from
    shift: int = integer(0, MAX_SHIFT, 5)  # the step k
    pair: int | None = integer(0, MAX_WIDTH // 2 - 1)  # the pair i that turns; None is the page's choice
    word: int | None = integer(0, MAX_POSITIONS - 1)  # the token, from 0, that the formula is filled in for
    dim: int | None = integer(0, MAX_WIDTH - 1)  # and its dimension
    one: str | None = typed_text()  # the two sentences of the same words; None is the page's choice
    other: str | None = typed_text()
    added: bool = switch()  # whether the part on the sentence is open
