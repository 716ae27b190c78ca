"""The Why page's view, as an address spells it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from headlight.analysis.head_changes import HeadChange
from transformer.config import ModelConfig
from transformer.taps import Intervention
from ui.state.view import PageView, choice, integer, nonempty_text, parsed, switch, typed_text

# What can stand beside the contributions, by its name in the address: the name of the measure.
COMPARED_MEASURES = {
    "attention": "raw attention",
    "norm": "norm-weighted",
    "rollout": "rollout",
    "zeroing": "value zeroing",
    "gradient": "gradient × input",
    "integrated": "integrated gradients",
}
# What is exchanged between the true sentence and the other one, by its name in the address; and in which direction.
EXCHANGED = {
    "heads": "Heads",
    "patterns": "Attention patterns",
    "tokens": "Heads, token by token",
    "forward": "Feed-forward networks",
    "states": "States",
}
# What replaces the output of a head, by its name in the address.
ABLATIONS = {"mean": "Its mean", "resample": "Another sentence", "zero": "Zeros"}
DIRECTIONS = {"denoise": "Give back", "noise": "Take away"}


@dataclass(frozen=True)
class WhyView(PageView):
    """The state of the Why page; steps count from 1 over the written tokens, [EOS] included."""

    PAGE: ClassVar[str | None] = "why"
    OF_MODEL: ClassVar[frozenset[str]] = PageView.OF_MODEL | {"changes"}
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"step", "instead", "corrupted"})

    step: int | None = integer(1, 999_999)
    instead: str | None = nonempty_text()  # the text of the token that could have been written
    beside: str = choice("attention", COMPARED_MEASURES)
    every: bool = switch()  # show all tokens, even those that contribute next to nothing
    ablation: str = choice("mean", ABLATIONS)
    parts: bool = switch()  # show the waterfall's steps layer by layer
    corrupted: str | None = typed_text()  # the sentence to swap the cause with; None is the page's own choice
    exchanged: str = choice("heads", EXCHANGED)
    direction: str = choice("denoise", DIRECTIONS)
    states: str = choice("encoder", ("encoder", "decoder"))  # the stack in which a part is exchanged token by token
    # Of heads, in every pass that explains; the translation stays as it is.
    changes: tuple[HeadChange, ...] = parsed((), HeadChange.parse_list)

    @property
    def unchanged(self) -> bool:
        return super().unchanged and not self.changes

    @property
    def taps(self) -> tuple[Intervention, ...]:
        return tuple(change.tap() for change in self.changes)

    def of_model(self, config: ModelConfig) -> WhyView:
        """Return the view without changes of heads that the model lacks, and with the last change of each head."""
        changes = {(c.kind, c.layer, c.head): c for c in self.changes if c.exists_in(config)}
        return replace(self, changes=tuple(changes.values()))
