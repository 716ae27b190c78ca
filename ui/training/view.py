"""The Training page's view, as an address spells it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from ui.state.view import PageView, integer, parsed, switch

# Prefixes of the names of models with snapshots of their training: shipped ones, and ones that the user saved.
SHIPPED_PREFIX, STORED_PREFIX = "checkpoints/", "models/"
MAX_COMPARED_RUNS = 3
MAX_SMOOTH_PERCENT = 99

_NAME = re.compile(rf"({SHIPPED_PREFIX}|{STORED_PREFIX})?\w[\w.-]{{0,63}}")
_DATA = re.compile(r"[a-z0-9-]{1,20}(:[a-z]{2}-[a-z]{2})?")
_SIZE = re.compile(r"[a-z0-9-]{1,40}")


def _matching(form: re.Pattern[str]) -> Any:
    return parsed(None, lambda text: text if form.fullmatch(text) else None)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",")[:MAX_COMPARED_RUNS] if _NAME.fullmatch(name))


@dataclass(frozen=True)
class TrainingView(PageView):
    """The state of the Training page."""

    PAGE: ClassVar[str | None] = "training"

    run: str | None = _matching(_NAME)  # None is the latest
    compare: tuple[str, ...] = parsed((), _names)  # other runs
    step: int | None = integer(0, 100_000_000)  # of the film strip, the curves and the translations; None is the latest
    smooth: int = integer(0, MAX_SMOOTH_PERCENT, 0)  # percent: the weight of earlier values in a moving average
    sentence: int = integer(1, 100, 1)  # which of the watched ones, from 1
    new: bool = switch()  # the form that starts a run is open
    data: str | None = _matching(_DATA)  # what it would learn from
    size: str | None = _matching(_SIZE)  # of the network
    start: str | None = _matching(_NAME)  # a run whose best checkpoint it would start from
