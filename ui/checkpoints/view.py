"""The Checkpoints page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ui.state.view import PageView, integer, nonempty_text, parsed, switch


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name[:200] for name in text.split(",")[:2] if name))


@dataclass(frozen=True)
class CheckpointsView(PageView):
    """The state of the Checkpoints page. `beside` names a second model to compare with."""

    PAGE: ClassVar[str | None] = "checkpoints"
    FORMER_KEYS: ClassVar[Mapping[str, str]] = {"bring": "importing"}
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"weight"}

    weight: str | None = nonempty_text(300)  # a block or a tensor whose numbers are shown
    ticked: tuple[str, ...] = parsed((), _names)  # at most two
    beside: str | None = nonempty_text()  # the second model
    beside_layer: int | None = integer(1, 9999)
    beside_head: int | None = integer(1, 9999)
    importing: bool = switch()  # the part that imports is open
