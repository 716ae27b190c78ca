"""The Training page's view, as an address spells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ui.state.view import PageView, whole_number

# Prefixes of the names of models with snapshots of their training: shipped ones, and ones that the user saved.
SHIPPED_PREFIX, STORED_PREFIX = "checkpoints/", "models/"
MAX_COMPARED_RUNS = 3
MAX_SMOOTH_PERCENT = 99

_NAME = re.compile(rf"({SHIPPED_PREFIX}|{STORED_PREFIX})?\w[\w.-]{{0,63}}")
_DATA = re.compile(r"[a-z0-9-]{1,20}(:[a-z]{2}-[a-z]{2})?")
_SIZE = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True)
class TrainingView(PageView):
    """The state of the Training page."""

    PAGE: ClassVar[str | None] = "training"
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset()

    run: str | None = None  # None is the latest
    compare: tuple[str, ...] = ()  # other runs
    step: int | None = None  # that of the film strip, the curves and the translations; None is the latest
    smooth: int = 0  # percent: the weight of earlier values in the moving average of a noisy curve
    sentence: int = 1  # which of the watched ones, from 1
    new: bool = False  # the form that starts a run is open
    data: str | None = None  # what it would learn from
    size: str | None = None  # of the network
    start: str | None = None  # a run whose best checkpoint it would start from

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        names = query.get("compare", "").split(",")[:MAX_COMPARED_RUNS]
        return {
            "run": _matching(_NAME, query.get("run")),
            "compare": tuple(name for name in names if _matching(_NAME, name)),
            "step": whole_number(query.get("step"), 0, 100_000_000),
            "smooth": whole_number(query.get("smooth"), 0, MAX_SMOOTH_PERCENT) or cls.smooth,
            "sentence": whole_number(query.get("sentence"), 1, 100) or cls.sentence,
            "new": query.get("new") == "1",
            "data": _matching(_DATA, query.get("data")),
            "size": _matching(_SIZE, query.get("size")),
            "start": _matching(_NAME, query.get("start")),
        }


def _matching(form: re.Pattern[str], text: str | None) -> str | None:
    return text if text and form.fullmatch(text) else None
