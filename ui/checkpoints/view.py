"""The Checkpoints page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ui.state.view import PageView, whole_number

MAX_NAME_CHARACTERS = 300  # of a tensor's name


@dataclass(frozen=True)
class CheckpointsView(PageView):
    """The state of the Checkpoints page. `beside` names a second model to compare with."""

    PAGE: ClassVar[str | None] = "checkpoints"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"weight"}

    weight: str | None = None  # a block or a tensor whose numbers are shown
    ticked: tuple[str, ...] = ()  # at most two
    beside: str | None = None  # the second model
    beside_layer: int | None = None  # from 1
    beside_head: int | None = None  # from 1
    bring: bool = False  # the part that imports is open

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        ticked = [name[:200] for name in query.get("ticked", "").split(",")[:2] if name]
        return {
            "weight": query.get("weight", "")[:MAX_NAME_CHARACTERS] or None,
            "ticked": tuple(dict.fromkeys(ticked)),
            "beside": query.get("beside", "")[:200] or None,
            "beside_layer": whole_number(query.get("beside_layer", ""), 1, 9999),
            "beside_head": whole_number(query.get("beside_head", ""), 1, 9999),
            "bring": query.get("bring") == "1",
        }
