"""The Decoding page's view, as an address spells it."""

from __future__ import annotations

import re
from dataclasses import dataclass, make_dataclass
from typing import Any, ClassVar

from headlight.analysis.search_tree import Outcome
from headlight.language import translatable
from transformer.config import ModelConfig
from transformer.decoding.search import TapAt
from transformer.decoding.strategies import STRATEGIES, Decoding, Parameter, parameters
from transformer.taps import Replace, Site, Tap, chain
from ui.state.view import PageView, choice, integer, number, parsed, switch, typed_text, whole_number

# What stands under each word of the tree.
NODE_NUMBERS = {
    "total": translatable("cumulative log-probability (nats)"),
    "log_prob": translatable("log-probability of the token (nats)"),
    "score": translatable("length-normalised score"),
}
# What became of a hypothesis.
FATES: dict[Outcome, str] = {
    "winner": translatable("winner"),
    "finished": translatable("finished"),
    "live": translatable("live at the end"),
    "dropped": translatable("dropped later"),
    "pruned": translatable("pruned"),
}
MAX_BRANCHES = 8

Head = tuple[int, int | None]  # layer and head from 1; None is every head of the layer


def never_written(config: ModelConfig) -> set[int]:
    """Return the tokens that no decode ever writes, however probable."""
    return {config.pad_id, config.sos_id} - {config.eos_id}


@dataclass(frozen=True)
class Branch:
    """A different continuation: the target begins with `ids`.

    Where a source word is given, the token after them is written while looking at nothing but that word, in the given
    heads of cross-attention (none is all of them).

    An address spells it 9.31.7, or 9.31~4 and 9.31~4~2_3.1: source word 4, in all of layer 2 and head 1 of layer 3.
    """

    ids: tuple[int, ...]
    word: int | None = None  # from 1
    heads: tuple[Head, ...] = ()

    def __str__(self) -> str:
        text = ".".join(map(str, self.ids))
        if self.word is not None:
            text += f"~{self.word}"
        if self.heads:
            text += "~" + "_".join(f"{layer}" if head is None else f"{layer}.{head}" for layer, head in self.heads)
        return text

    @classmethod
    def parse(cls, text: str) -> Branch | None:
        match = re.fullmatch(r"((?:\d{1,7}(?:\.\d{1,7})*)?)(?:~(\d{1,5})(?:~([\d._]{1,2000}))?)?", text, re.ASCII)
        if match is None or not text:
            return None
        ids, word, heads = match.groups()
        parts = [re.fullmatch(r"(\d{1,3})(?:\.(\d{1,3}))?", part) for part in (heads or "").split("_")] if heads else []
        if not all(parts):
            return None
        chosen = tuple((int(part[1]), int(part[2]) if part[2] else None) for part in parts if part)
        return cls(tuple(map(int, ids.split("."))) if ids else (), int(word) if word else None, chosen)

    def fits(self, config: ModelConfig, source_length: int, bound: int) -> bool:
        """Return whether a model can continue in this way; an address may have been written for another."""
        decoder = config.decoder
        never = never_written(config)
        can_be_written = all(token < config.target_vocab_size and token not in never for token in self.ids)
        whole_or_open = config.eos_id not in self.ids[:-1] and (self.word is None or self.ids[-1:] != (config.eos_id,))
        short_enough = len(self.ids) + (self.word is not None) <= bound
        pointed = self.word is None or 1 <= self.word <= source_length
        heads = all(
            1 <= layer <= decoder.n_layers and 1 <= (head or 1) <= decoder.n_heads for layer, head in self.heads
        )
        return can_be_written and whole_or_open and short_enough and pointed and heads and bool(self.ids or self.word)

    @property
    def step(self) -> int:
        """The step, from 1, of the last forced token or of the changed attention."""
        return len(self.ids) + (self.word is not None)

    def tap_at(self, config: ModelConfig, source_length: int) -> TapAt | None:
        """Return the change of cross-attention at its step."""
        if self.word is None:
            return None
        row = tuple(float(k == self.word - 1) for k in range(source_length))
        tap = chain(*(Replace(Site("decoder", layer, "cross"), head, (row,)) for layer, head in self._heads(config)))
        step = self.step - 1

        def at(index: int) -> Tap | None:
            return tap if index == step else None

        return at

    def _heads(self, config: ModelConfig) -> list[tuple[int, int]]:
        """Return layers and heads from 0."""
        layers, heads = range(config.decoder.n_layers), range(config.decoder.n_heads)
        if not self.heads:
            return [(layer, head) for layer in layers for head in heads]
        changed = set(self.heads)
        return [
            (layer, head)
            for layer in layers
            for head in heads
            if (layer + 1, None) in changed or (layer + 1, head + 1) in changed
        ]


def _setting(of: Parameter) -> Any:
    read = whole_number if of.type is int else number
    return parsed(None, lambda text: read(text, of.least, of.most))


# A field for each parameter of the strategies. None is the value that the strategy opens with.
_Settings = make_dataclass(
    "_Settings",
    [(field, float | None, _setting(sharing[0][1])) for field, sharing in parameters().items()],
    bases=(PageView,),
    frozen=True,
)


def _ids(text: str) -> tuple[int, ...] | None:
    ids = [whole_number(part, 0, 9_999_999) for part in text.split(",")[:10_000]]
    return None if None in ids else tuple(id for id in ids if id is not None)


def _branches(text: str) -> tuple[Branch, ...]:
    branches = map(Branch.parse, text.split(",")[:MAX_BRANCHES])
    return tuple(dict.fromkeys(branch for branch in branches if branch))


@dataclass(frozen=True)
class DecodingView(_Settings):  # type: ignore[misc, valid-type]
    """The state of the Decoding page."""

    PAGE: ClassVar[str | None] = "decoding"
    OF_SENTENCE: ClassVar[frozenset[str]] = frozenset({"step", "path", "branches", "reference"})

    strategy: str = choice("beam", STRATEGIES)
    step: int | None = integer(1, 999_999)
    path: tuple[int, ...] = parsed((), _ids)  # of the hypothesis that is stepped through; none is the best one
    pruned: bool = switch(True)  # whether the tree shows what was pruned
    under: str = choice("total", NODE_NUMBERS)
    future: bool = switch(True)  # whether what comes after the step is shown
    branches: tuple[Branch, ...] = parsed((), _branches)
    reference: str | None = typed_text()

    def value(self, parameter: Parameter) -> float | None:
        """Return the value of a parameter of the strategy: the chosen one, or the page's default."""
        chosen: float | None = getattr(self, parameter.field)
        return parameter.initial if chosen is None else chosen

    @property
    def decoding(self) -> Decoding:
        """Return the strategy with its settings."""
        parameters = STRATEGIES[self.strategy].parameters
        return Decoding.of(self.strategy, **{parameter.name: self.value(parameter) for parameter in parameters})
