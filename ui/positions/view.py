"""The Positions page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.positions import BASE, FORMULAS, SINGLE_WAVE_SCHEMES
from ui.state.view import MAX_TEXT_CHARACTERS, PageView, number, whole_number

SCHEMES = ("sinusoidal", "learned", "none", "integer", "normalised", "binary")
assert {*SCHEMES} == {*FORMULAS, "learned"} - {*SINGLE_WAVE_SCHEMES}
OF_ONE_MODEL = ("stored", "relative")  # a table that came with a model, and T5's bias on the scores
MAX_POSITIONS, MAX_WIDTH, MAX_BASE, MAX_CURVES, MAX_SHIFT = 10_000, 1_024, 1_000_000, 8, 100


@dataclass(frozen=True)
class PositionsView(PageView):
    """The state of the Positions page."""

    PAGE: ClassVar[str | None] = "positions"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"one", "other"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"word"})

    scheme: str | None = None  # None is the model's own, as in `d_model`
    positions: int = 100
    base: float = BASE
    d_model: int | None = None
    dims: tuple[int, ...] | None = None  # the curves; None is the page's choice
    at: int = 2  # the position p that a step starts from
    shift: int = 5  # the step k
    pair: int | None = None  # the pair i that turns; None is the page's choice
    word: int | None = None  # the token, from 0, and the dimension that the formula is filled in for
    dim: int | None = None
    one: str | None = None  # the two sentences of the same words; None is the page's choice
    other: str | None = None
    added: bool = False  # whether the part on the sentence is open

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        dims = [whole_number(part, 0, MAX_WIDTH - 1) for part in query.get("dims", "").split(",")[:MAX_CURVES]]
        scheme = query.get("scheme")
        return {
            "scheme": scheme if scheme in (*SCHEMES, *OF_ONE_MODEL) else None,
            "positions": whole_number(query.get("positions"), 1, MAX_POSITIONS) or cls.positions,
            "base": number(query.get("base"), 1, MAX_BASE) or cls.base,
            "d_model": whole_number(query.get("d_model"), 1, MAX_WIDTH),
            "dims": tuple(dict.fromkeys(dim for dim in dims if dim is not None)) if "dims" in query else None,
            "at": _bounded(query.get("at"), MAX_POSITIONS - 1, cls.at),
            "shift": _bounded(query.get("shift"), MAX_SHIFT, cls.shift),
            "pair": whole_number(query.get("pair"), 0, MAX_WIDTH // 2 - 1),
            "word": whole_number(query.get("word"), 0, MAX_POSITIONS - 1),
            "dim": whole_number(query.get("dim"), 0, MAX_WIDTH - 1),
            "one": query["one"][:MAX_TEXT_CHARACTERS] if "one" in query else None,
            "other": query["other"][:MAX_TEXT_CHARACTERS] if "other" in query else None,
            "added": query.get("added") == "1",
        }


def _bounded(text: str | None, maximum: int, default: int) -> int:
    number = whole_number(text, 0, maximum)
    return default if number is None else number
