"""The measurements of the Why page, shared by the sessions that look at the same sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from headlight.analysis import why
from headlight.analysis.stream import stream
from headlight.analysis.why.activation_patching import Direction
from headlight.importers.examples import examples
from transformer import Trace, Translator
from transformer.decoding.search import allowed
from transformer.taps import Intervention, Site, chain
from ui.state.cache import cached
from ui.state.models import forced_trace, translator, versioned
from ui.why.view import WhyView

Ids = tuple[int, ...]
Head = tuple[Site, int]
Taps = tuple[Intervention, ...]  # changes of heads, in every pass
MAX_CANDIDATES = 5  # other tokens that are offered at a step
MAX_REFERENCES = 8  # examples of a model that a head's mean, or another output of it, is taken from
TOP_HEADS = 3  # heads that are exchanged together
TOKEN_HEADS = 8  # heads that are exchanged token by token


class ForcedPass(NamedTuple):
    """A pass in which the model reads a source and is forced to write a target, with some heads changed."""

    name: str
    source: Ids
    target: Ids
    taps: Taps


@dataclass(frozen=True)
class WrittenToken:
    """The token that the page explains: what a model wrote at a step of a trace, from 0."""

    name: str  # of the model
    model: Translator
    view: WhyView
    trace: Trace
    step: int

    @property
    def forced(self) -> ForcedPass:
        return forced_pass(self.name, self.trace, self.view)

    @property
    def label(self) -> str:
        return self.trace.writes.labels[self.step]

    def label_of(self, token: int) -> str:
        """Return the label of another token of the target vocabulary."""
        return self.model.checkpoint.target_tokenizer.label(token)


class Swap(NamedTuple):
    """What is exchanged with another sentence, at which step; `heads` are those that are exchanged token by token."""

    corrupted: Ids
    step: int
    instead: int
    part: str  # of `why.PARTS`
    direction: Direction
    heads: tuple[Head, ...] = ()


class Swapped(NamedTuple):
    """The effect of exchanging each part; for heads and patterns also the best ones and their joint effect."""

    patching: why.Patching
    top: list[Head]
    together: float
    unpaired: tuple[list[int], list[int]]  # token positions without a counterpart in the true and in the other sentence


def forced_pass(name: str, trace: Trace, view: WhyView) -> ForcedPass:
    return ForcedPass(name, tuple(trace.source.ids), tuple(trace.target.ids), view.taps)


def changed_trace(name: str, trace: Trace, taps: Taps) -> Trace:
    """Return the patterns and log-probabilities of the same translation with heads changed."""
    if not taps:
        return trace
    forced = forced_trace(name, trace.source.ids, trace.target.ids, taps)
    return replace(
        trace,
        encoder=forced.encoder,
        decoder=forced.decoder,
        cross=forced.cross,
        log_probs=forced.log_probs,
        interventions=forced.interventions,
    )


@cached(20, "Measuring where the words came from", key=versioned)
def measured_origins(name: str, source: Ids, target: Ids, taps: Taps) -> why.MeasuredOrigins:
    """Return where the tokens of a translation came from, by each measure."""
    return why.measured(translator(name).model, source, target, chain(*taps))


@cached(50, "Reading the other candidates", key=versioned)
def candidates(name: str, source: Ids, target: Ids, taps: Taps, step: int) -> list[tuple[int, float]]:
    """Return the five most probable other tokens at a step, with their probabilities."""
    checkpoint = translator(name).checkpoint
    model, label = checkpoint.model, checkpoint.target_tokenizer.label
    passed = stream(model, source, target[: step + 2], chain(*taps))
    log_probs = model.output(passed.decoder.last[-1]).detach().float().log_softmax(-1)
    best = allowed(log_probs, model.config).topk(min(MAX_CANDIDATES + 5, len(log_probs)))
    # Two tokens may read the same, such as an apostrophe with a space before it and one without.
    written = label(target[step + 1])
    pairs = [
        (token, math.exp(log_prob))
        for token, log_prob in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        if log_prob > -math.inf and label(token) != written
    ]
    return pairs[:MAX_CANDIDATES]


@cached(50, "Taking the two logits apart", key=versioned)
def contrast(
    name: str, source: Ids, target: Ids, taps: Taps, step: int, instead: int
) -> tuple[why.Contrast, np.ndarray]:
    """Return the parts of the difference of two logits, and the contrastive gradient times input of the source [S]."""
    model, tap = translator(name).model, chain(*taps)
    gradient = why.gradient_times_input(model, source, target, step, instead, tap)
    return why.contrast(model, source, target, step, instead, tap), gradient.source


@cached(20, "Reading every encoder layer", key=versioned)
def decoder_lens(name: str, source: Ids, target: Ids, taps: Taps) -> why.DecoderLens:
    return why.decoder_lens(translator(name).model, source, target, tap=chain(*taps))


@cached(50, "Reading the other sentence", key=versioned)
def first_difference(name: str, corrupted: Ids, target: Ids, taps: Taps) -> tuple[int, int]:
    """Return the step at which the other sentence leads to something else, and the token that it leads to.

    Raises ValueError where there is none.
    """
    return why.first_difference(translator(name).model, corrupted, target, chain(*taps))


@cached(20, "Integrating gradients", key=versioned)
def integrated_steps(name: str, source: Ids, target: Ids, taps: Taps) -> list[why.IntegratedGradients]:
    return why.integrated_steps(translator(name).model, source, target, chain(*taps))


@cached(20, "Dividing contributions among heads", key=versioned)
def head_contributions(name: str, source: Ids, target: Ids, taps: Taps) -> np.ndarray:
    """Return the share of each step that comes from the source through each head of cross-attention, [T, L, H]."""
    return why.head_contributions(translator(name).model, source, target, chain(*taps))


@cached(20, "Replacing one head at a time", key=versioned)
def ablated(name: str, source: Ids, target: Ids, taps: Taps, by: why.Ablation) -> dict[Site, np.ndarray]:
    """Return the change of each written token's log-probability when a head is ablated: [H, T] by site, in nats.

    Raises ValueError where the model has no examples that a mean or another output could be taken from.
    """
    references = [] if by == "zero" else [pair for pair in _references(name) if pair[0] != source]
    return why.ablated_steps(translator(name).model, (source, target), references, by, tap=chain(*taps))


@cached(20, "Translating examples", key=versioned)
def _references(name: str) -> list[tuple[Ids, Ids]]:
    model = translator(name)
    pairs = [model.encode_pair(example.text) for example in examples(model.card)[:MAX_REFERENCES]]
    return [(tuple(source), tuple(target)) for source, target in pairs]


@cached(50, "Patching one part at a time", key=versioned)
def exchange(name: str, source: Ids, target: Ids, taps: Taps, swap: Swap) -> Swapped:
    """Exchange one part at a time. Raises ValueError where the two sentences lead to the same logits."""
    model, tap = translator(name).model, chain(*taps)
    pairs = why.partners(source, swap.corrupted)
    corruption = why.Corruption(source, swap.corrupted, target, swap.step, swap.instead, pairs)
    patching = why.patching(model, corruption, [swap.part], swap.direction, swap.heads or None, tap)
    top = best_heads(patching.patterns if swap.part == "patterns" else patching.restored, TOP_HEADS)
    together = math.nan
    if top:
        (together,) = why.restored_by(model, corruption, [top], swap.part, swap.direction, tap)
    alone = tuple(
        [index for index in range(len(ids)) if index not in {pair[side] for pair in pairs}]
        for side, ids in enumerate((source, swap.corrupted))
    )
    return Swapped(patching, top, together, (alone[0], alone[1]))


def best_heads(restored: dict[Site, np.ndarray], count: int) -> list[Head]:
    """Return the `count` heads with the largest shares; pruned heads, which have no share, are left out."""
    heads = [(site, int(head)) for site, shares in restored.items() for head in np.flatnonzero(np.isfinite(shares))]
    return sorted(heads, key=lambda at: -restored[at[0]][at[1]])[:count]
