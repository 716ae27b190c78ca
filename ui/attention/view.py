"""The Attention page's view, as an address spells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from headlight.analysis.head_changes import HeadChange
from headlight.language import gettext, translatable
from headlight.teaching.mistakes import RUNNABLE
from ui.state.view import MAX_TEXT_CHARACTERS, PageView, one_of, whole_number

Show = Literal["raw", "value", "mean", "max", "rollout", "difference"]
ScaleName = Literal["fixed", "row", "sqrt"]
Compare = Literal["sides", "difference"]

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


@dataclass(frozen=True)
class AttentionView(PageView):
    """The state of the Attention page."""

    PAGE: ClassVar[str | None] = "attention"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"lines", "changes", "second", "broken"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"row", "column"})
    INPUT_FIELDS: ClassVar[frozenset[str]] = PageView.INPUT_FIELDS | {"changes", "second", "broken"}
    TRANSIENT: ClassVar[frozenset[str]] = frozenset({"broken"})

    show: str = "raw"
    scale: str = "fixed"
    words: bool = False
    hide: bool = False
    lines: tuple[int, ...] = ()  # heads in the line view, from 1; none is the chosen one
    mass: int = 90  # percent of each row that the line view draws
    changes: tuple[HeadChange, ...] = ()
    second: str | None = None  # a sentence to compare the first with, in the same head
    compare: str = "sides"  # both sentences side by side, or the difference of their weights
    row: int | None = None  # the query token and the key token that are held, from 1
    column: int | None = None
    MISTAKES: ClassVar[tuple[str, ...]] = RUNNABLE
    broken: str = ""  # a mistake that the model is run with

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.broken and not self.changes

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        heads = [whole_number(part, 1, 9999) for part in query.get("lines", "").split(",")[:100]]
        return {
            "show": one_of(query.get("show"), get_args(Show), cls.show),
            "scale": one_of(query.get("scale"), get_args(ScaleName), cls.scale),
            "words": query.get("words") == "1",
            "hide": query.get("hide") == "1",
            "lines": tuple(head for head in heads if head),
            "mass": whole_number(query.get("mass", ""), 50, 100) or cls.mass,
            "changes": HeadChange.parse_list(query.get("changes", "")),
            "second": query["second"][:MAX_TEXT_CHARACTERS] if "second" in query else None,
            "compare": one_of(query.get("compare"), get_args(Compare), cls.compare),
            "row": whole_number(query.get("row", ""), 1, 9999),
            "column": whole_number(query.get("column", ""), 1, 9999),
            "broken": one_of(query.get("broken"), RUNNABLE, cls.broken),
        }
