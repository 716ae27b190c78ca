"""Changes of heads, as URLs and the command line spell them: cross.2.3 is off, cross.2.3u uniform."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from headlight.analysis.sites import all_heads, kind_of, site_of
from headlight.language import gettext, listed, localized, ngettext, translatable
from transformer.config import ModelConfig
from transformer.model import Transformer
from transformer.quoting import quoted
from transformer.taps import Ablate, Intervention, Scale, Uniform, is_ablation

LARGEST_FACTOR = 3.0  # by which a head's weights may be multiplied
MAX_NAMED_HEADS = 6  # heads; more are counted

# Translators: a head within a sentence, such as “cross 3.2 and cross 2.1 off”: its layer and its number
BRIEF_NAMES = {
    "encoder": translatable("encoder {layer}.{head}"),
    "decoder": translatable("decoder {layer}.{head}"),
    "cross": translatable("cross {layer}.{head}"),
}


@dataclass(frozen=True)
class HeadChange:
    """A change of a head, as a URL spells it: cross.2.3 is off, cross.2.3u uniform, cross.2.3x0.5 scaled."""

    kind: str
    layer: int  # from 1
    head: int  # from 1
    action: str = "off"  # "off", "uniform" or "scale"
    factor: float = 0.5

    def tap(self) -> Intervention:
        site = site_of(self.kind, self.layer - 1)
        if self.action == "off":
            return Ablate(site, self.head - 1)
        if self.action == "uniform":
            return Uniform(site, self.head - 1)
        return Scale(site, self.head - 1, self.factor)

    def exists_in(self, config: ModelConfig) -> bool:
        """Return whether a model has this head; a URL may have been written for another model."""
        site = site_of(self.kind, self.layer - 1)
        layers = (config.encoder if site.stack == "encoder" else config.decoder).n_layers
        return 1 <= self.layer <= layers and self.head - 1 in config.kept_heads(*site)

    @property
    def off(self) -> bool:
        """Whether the head's output is zero."""
        return is_ablation(self.tap())

    def __str__(self) -> str:
        ending = {"off": "", "uniform": "u", "scale": f"x{self.factor:g}"}[self.action]
        return f"{self.kind}.{self.layer}.{self.head}{ending}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        match = re.fullmatch(r"(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})(u|x(\d{1,2}(?:\.\d{1,3})?))?", text)
        if match is None:
            return None
        kind, layer, head, ending, factor = match.groups()
        action = "off" if not ending else "uniform" if ending == "u" else "scale"
        times = float(factor) if factor else cls.factor
        return cls(kind, int(layer), int(head), action, times) if times <= LARGEST_FACTOR else None

    @classmethod
    def parse_list(cls, text: str) -> tuple[Self, ...]:
        """Return the changes in a URL, separated by commas; anything that is no change is left out."""
        changes = (cls.parse(part) for part in text.split(",")[:1000])
        return tuple(change for change in changes if change)


def switched_off(model: Transformer) -> list[HeadChange]:
    """Return every head of the model, as switched off."""
    return [HeadChange(kind_of(site), site.layer + 1, head + 1) for site, head in all_heads(model)]


def require_heads_off(model: Transformer, names: Sequence[str]) -> list[HeadChange]:
    """Return the heads of these names, such as cross.3.4, as switched off.

    Raises ValueError for a text that is no such name, and for a head that the model lacks.
    """
    changes = []
    for name in names:
        change = HeadChange.parse(name)
        if change is None or change.action != "off":
            raise ValueError(
                f"{quoted(name)} is no name of a head; write encoder, decoder or cross, the layer and the head, "
                "counted from 1: cross.3.4."
            )
        if not change.exists_in(model.config):
            raise ValueError(f"The model has no head {name}; {_heads_instead(model, change)}")
        changes.append(change)
    return list(dict.fromkeys(changes))


def _heads_instead(model: Transformer, change: HeadChange) -> str:
    """Describe which heads the model has in the layer of a missing head, or else of its kind."""
    same = [head for head in switched_off(model) if head.kind == change.kind]
    layer = [str(head) for head in same if head.layer == change.layer]
    if layer:
        return f"in that layer it has {', '.join(layer)}."
    return f"of that kind it has {same[0]} to {same[-1]}." if same else f"it has no {change.kind} heads."


def describe_changes(changes: Sequence[HeadChange]) -> str:
    """Describe the changes as text: "cross 3.3 and cross 2.4 off, encoder 1.1 uniform"; many heads are counted."""
    ways: dict[str, list[str]] = {}
    for change in changes:
        factor = f"× {localized(f'{change.factor:g}')}"
        way = "off" if change.off else factor if change.action == "scale" else change.action
        name = gettext(BRIEF_NAMES[change.kind], layer=change.layer, head=change.head)
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
