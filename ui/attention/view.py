"""What the Attention page shows, as an address spells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from transformer.config import ModelConfig
from transformer.taps import Ablate, Intervention, Scale, Site, Uniform
from ui.state.view import View, one_of, whole

Show = Literal["raw", "value", "mean", "max", "rollout", "difference"]
ScaleName = Literal["fixed", "row", "sqrt"]

LARGEST_FACTOR = 3.0  # that a head's weights are multiplied by

_SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}


@dataclass(frozen=True)
class Change:
    """A head that is changed, as an address spells it: cross.2.3 is off, ...u uniform, ...x0.5 scaled."""

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
        """Whether a model has this head; an address may have been written for another."""
        stack = config.encoder if self.kind == "encoder" else config.decoder
        return 1 <= self.layer <= stack.n_layers and 1 <= self.head <= stack.n_heads

    def __str__(self) -> str:
        ending = {"off": "", "uniform": "u", "scale": f"x{self.factor:g}"}[self.action]
        return f"{self.kind}.{self.layer}.{self.head}{ending}"

    @classmethod
    def parse(cls, text: str) -> Change | None:
        found = re.fullmatch(r"(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})(u|x(\d{1,2}(?:\.\d{1,3})?))?", text)
        if found is None:
            return None
        kind, layer, head, ending, factor = found.groups()
        action = "off" if not ending else "uniform" if ending == "u" else "scale"
        times = float(factor) if factor else cls.factor
        return cls(kind, int(layer), int(head), action, times) if times <= LARGEST_FACTOR else None


@dataclass(frozen=True)
class AttentionView(View):
    """Everything that defines the Attention page."""

    PAGE: ClassVar[str | None] = "attention"
    OF_MODEL: ClassVar[frozenset[str]] = View.OF_MODEL | {"lines", "changes"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"row", "column"})

    show: str = "raw"
    scale: str = "fixed"
    words: bool = False
    hide: bool = False
    lines: tuple[int, ...] = ()  # heads in the line view, from 1; none is the chosen one
    mass: int = 90  # percent of each row that the line view draws
    changes: tuple[Change, ...] = ()
    row: int | None = None  # the token that looks, from 1, and the one looked at, that are held
    column: int | None = None

    @classmethod
    def own(cls, query: Mapping[str, str]) -> dict[str, object]:
        changes = [Change.parse(part) for part in query.get("changes", "").split(",")[:1000]]
        heads = [whole(part, 1, 9999) for part in query.get("lines", "").split(",")[:100]]
        return {
            "show": one_of(query.get("show"), get_args(Show), cls.show),
            "scale": one_of(query.get("scale"), get_args(ScaleName), cls.scale),
            "words": query.get("words") == "1",
            "hide": query.get("hide") == "1",
            "lines": tuple(head for head in heads if head),
            "mass": whole(query.get("mass", ""), 50, 100) or cls.mass,
            "changes": tuple(change for change in changes if change),
            "row": whole(query.get("row", ""), 1, 9999),
            "column": whole(query.get("column", ""), 1, 9999),
        }
