"""The Attention page's view, as an address spells it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from headlight.language import gettext, listed, localized, ngettext, translatable
from headlight.teaching.mistakes import RUNNABLE
from transformer.config import ModelConfig
from transformer.taps import Ablate, Intervention, Scale, Site, Uniform, is_ablation
from ui.state.view import MAX_TEXT_CHARACTERS, PageView, one_of, whole_number

Show = Literal["raw", "value", "mean", "max", "rollout", "difference"]
ScaleName = Literal["fixed", "row", "sqrt"]
Compare = Literal["sides", "difference"]

LARGEST_FACTOR = 3.0  # that a head's weights are multiplied by
KIND_NAMES = {"encoder": translatable("Encoder"), "decoder": translatable("Decoder"), "cross": translatable("Cross")}
EVERY_HEAD = {
    "encoder": translatable("Every encoder head"),
    "decoder": translatable("Every decoder head"),
    "cross": translatable("Every cross head"),
}
# Translators: a head within a sentence, such as “cross 3.2 and cross 2.1 off”: its layer and its number
_BRIEF_NAMES = {
    "encoder": translatable("encoder {layer}.{head}"),
    "decoder": translatable("decoder {layer}.{head}"),
    "cross": translatable("cross {layer}.{head}"),
}
MAX_NAMED_HEADS = 6  # heads; more are counted

_SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}


@dataclass(frozen=True)
class HeadChange:
    """A change of a head, as an address spells it: cross.2.3 is off, ...u uniform, ...x0.5 scaled."""

    kind: str
    layer: int  # from 1
    head: int  # from 1
    action: str = "off"  # "off", "uniform" or "scale"
    factor: float = 0.5

    def tap(self) -> Intervention:
        stack, kind = _SITES[self.kind]
        site = Site(stack, self.layer - 1, kind)
        if self.action == "off":
            return Ablate(site, self.head - 1)
        if self.action == "uniform":
            return Uniform(site, self.head - 1)
        return Scale(site, self.head - 1, self.factor)

    def exists_in(self, config: ModelConfig) -> bool:
        """Return whether a model has this head; an address may have been written for another."""
        stack, kind = _SITES[self.kind]
        layers = (config.encoder if stack == "encoder" else config.decoder).n_layers
        return 1 <= self.layer <= layers and self.head - 1 in config.kept_heads(stack, self.layer - 1, kind)

    @property
    def off(self) -> bool:
        """Whether the head's output is zero."""
        return is_ablation(self.tap())

    def __str__(self) -> str:
        ending = {"off": "", "uniform": "u", "scale": f"x{self.factor:g}"}[self.action]
        return f"{self.kind}.{self.layer}.{self.head}{ending}"

    @classmethod
    def parse(cls, text: str) -> HeadChange | None:
        match = re.fullmatch(r"(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})(u|x(\d{1,2}(?:\.\d{1,3})?))?", text)
        if match is None:
            return None
        kind, layer, head, ending, factor = match.groups()
        action = "off" if not ending else "uniform" if ending == "u" else "scale"
        times = float(factor) if factor else cls.factor
        return cls(kind, int(layer), int(head), action, times) if times <= LARGEST_FACTOR else None


def head_of_kind(kind: str, layer: int, head: int) -> str:
    """Return the name of a head: "Cross layer 2, head 3"."""
    if kind == "encoder":
        return gettext("Encoder layer {layer}, head {head}", layer=layer, head=head)
    if kind == "decoder":
        return gettext("Decoder layer {layer}, head {head}", layer=layer, head=head)
    return gettext("Cross layer {layer}, head {head}", layer=layer, head=head)


def describe_changes(changes: Sequence[HeadChange]) -> str:
    """Describe the changes as text: "cross 3.3 and cross 2.4 off, encoder 1.1 uniform"; many heads are counted."""
    ways: dict[str, list[str]] = {}
    for change in changes:
        factor = f"× {localized(f'{change.factor:g}')}"
        way = "off" if change.off else factor if change.action == "scale" else change.action
        name = gettext(_BRIEF_NAMES[change.kind], layer=change.layer, head=change.head)
        ways.setdefault(way, []).append(name)
    return ", ".join(_changed(_joined(heads), way) for way, heads in ways.items())


def _changed(heads: str, way: str) -> str:
    if way == "off":
        return gettext("{heads} off", heads=heads)
    return gettext("{heads} uniform", heads=heads) if way == "uniform" else f"{heads} {way}"


def _joined(heads: list[str]) -> str:
    if len(heads) > MAX_NAMED_HEADS:
        return ngettext("{count} head", "{count} heads", len(heads))
    return listed(heads)


@dataclass(frozen=True)
class AttentionView(PageView):
    """The state of the Attention page."""

    PAGE: ClassVar[str | None] = "attention"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"lines", "changes", "second", "broken"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"row", "column"})
    INPUT_FIELDS: ClassVar[frozenset[str]] = PageView.INPUT_FIELDS | {"changes", "second", "broken"}
    PASSING: ClassVar[frozenset[str]] = frozenset({"broken"})

    show: str = "raw"
    scale: str = "fixed"
    words: bool = False
    hide: bool = False
    lines: tuple[int, ...] = ()  # heads in the line view, from 1; none is the chosen one
    mass: int = 90  # percent of each row that the line view draws
    changes: tuple[HeadChange, ...] = ()
    second: str | None = None  # a sentence to be shown beside the first, with the same head
    compare: str = "sides"  # both sentences side by side, or the difference of their weights
    row: int | None = None  # the token that looks, from 1, and the one looked at, that are held
    column: int | None = None
    MISTAKES: ClassVar[tuple[str, ...]] = RUNNABLE
    broken: str = ""  # a mistake that the model is run with, which is "" for none

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.broken and not self.changes

    @classmethod
    def parse_fields(cls, query: Mapping[str, str]) -> dict[str, object]:
        changes = [HeadChange.parse(part) for part in query.get("changes", "").split(",")[:1000]]
        heads = [whole_number(part, 1, 9999) for part in query.get("lines", "").split(",")[:100]]
        return {
            "show": one_of(query.get("show"), get_args(Show), cls.show),
            "scale": one_of(query.get("scale"), get_args(ScaleName), cls.scale),
            "words": query.get("words") == "1",
            "hide": query.get("hide") == "1",
            "lines": tuple(head for head in heads if head),
            "mass": whole_number(query.get("mass", ""), 50, 100) or cls.mass,
            "changes": tuple(change for change in changes if change),
            "second": query["second"][:MAX_TEXT_CHARACTERS] if "second" in query else None,
            "compare": one_of(query.get("compare"), get_args(Compare), cls.compare),
            "row": whole_number(query.get("row", ""), 1, 9999),
            "column": whole_number(query.get("column", ""), 1, 9999),
            "broken": one_of(query.get("broken"), RUNNABLE, cls.broken),
        }
