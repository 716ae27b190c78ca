"""The Attention page's view, as an address spells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headlight.analysis.head_changes import HeadChange
from headlight.language import gettext, translatable
from headlight.teaching.mistakes import RUNNABLE
from ui.state.view import PageView, choice, integer, parsed, switch, typed_text, whole_number

KIND_NAMES = {"encoder": translatable("Encoder"), "decoder": translatable("Decoder"), "cross": translatable("Cross")}
EVERY_HEAD = {
    "encoder": translatable("Every encoder head"),
    "decoder": translatable("Every decoder head"),
    "cross": translatable("Every cross head"),
}


def head_of_kind(kind: str, layer: int, head: int) -> str:
    """Return the name of a head: "Cross layer 2, head 3"."""
    if kind == "encoder":
        return gettext("Encoder layer {layer}, head {head}", layer=layer, head=head)
    if kind == "decoder":
        return gettext("Decoder layer {layer}, head {head}", layer=layer, head=head)
    return gettext("Cross layer {layer}, head {head}", layer=layer, head=head)


def _lines(text: str) -> tuple[int, ...]:
    heads = (whole_number(part, 1, 9999) for part in text.split(",")[:100])
    return tuple(head for head in heads if head)


@dataclass(frozen=True)
class AttentionView(PageView):
    """The state of the Attention page."""

    PAGE: ClassVar[str | None] = "attention"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"lines", "changes", "second", "broken"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"row", "column"})
    INPUT_FIELDS: ClassVar[frozenset[str]] = PageView.INPUT_FIELDS | {"changes", "second", "broken"}
    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"broken"})

    show: str = choice("raw", ("raw", "value", "mean", "max", "rollout", "difference"))
    scale: str = choice("fixed", ("fixed", "row", "sqrt"))
    words: bool = switch()
    hide: bool = switch()
    lines: tuple[int, ...] = parsed((), _lines)  # heads in the line view, from 1; none is the chosen one
    mass: int = integer(50, 100, 90)  # percent of each row that the line view draws
    changes: tuple[HeadChange, ...] = parsed((), HeadChange.parse_list)
    second: str | None = typed_text()  # a sentence to compare the first with, in the same head
    compare: str = choice("sides", ("sides", "difference"))
    row: int | None = integer(1, 9999)  # the query token and the key token that are held, from 1
    column: int | None = integer(1, 9999)
    MISTAKES: ClassVar[tuple[str, ...]] = RUNNABLE
    broken: str = choice("", RUNNABLE)  # a mistake that the model is run with

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.broken and not self.changes
