"""What the Why page shows, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ui.state.view import View, whole


@dataclass(frozen=True)
class WhyView(View):
    """Everything that defines the Why page; steps count from 1 over the written tokens, [EOS] included."""

    PAGE: ClassVar[str | None] = "why"
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"step", "instead"})

    step: int | None = None
    instead: str | None = None  # the text of the token that could have been written

    @classmethod
    def own(cls, query: Mapping[str, str]) -> dict[str, object]:
        return {
            "step": whole(query.get("step", ""), 1, 999_999),
            "instead": query.get("instead", "")[:200] or None,
        }
