"""The measurements of the Why page, shared by the sessions that look at the same sentence."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from headlight.analysis import why
from headlight.analysis.stream import stream
from transformer import Trace
from transformer.decoding.search import allowed
from transformer.taps import Site
from ui.state.cache import cached
from ui.state.models import translator, version

Ids = tuple[int, ...]
Version = tuple[int, ...]
Head = tuple[Site, int]
CANDIDATES = 5  # other tokens that are offered at a step
TOP_HEADS = 3  # heads that are given back together


class Swapped(NamedTuple):
    """The share that patching each head restores, and the heads that restore most, with their joint effect."""

    patching: why.Patching
    top: list[Head]
    together: float
    unpaired: tuple[list[int], list[int]]  # places without a partner in the true and in the other sentence


def measured_of(name: str, trace: Trace) -> why.MeasuredOrigins:
    """Return where the tokens of a translation came from, by each measure."""
    return _measured(name, version(name), *_ids(trace))


def candidates_of(name: str, trace: Trace, step: int) -> list[tuple[int, float]]:
    """Return the five most probable other tokens at a step, with their probabilities."""
    return _candidates(name, version(name), *_ids(trace), step)


def contrast_of(name: str, trace: Trace, step: int, instead: int) -> tuple[why.Contrast, np.ndarray]:
    """Return the two logits in parts, and the contrastive gradient times input of the source tokens [S]."""
    return _contrast(name, version(name), *_ids(trace), step, instead)


def lens_of(name: str, trace: Trace) -> why.DecoderLens:
    return _lens(name, version(name), *_ids(trace))


def first_difference_of(name: str, trace: Trace, corrupted: Ids) -> tuple[int, int]:
    """Return the step at which the other sentence leads to something else, and the token that it leads to.

    Raises ValueError where there is none.
    """
    source, target = _ids(trace)
    return _first_difference(name, version(name), corrupted, target)


def swapped_of(name: str, trace: Trace, corrupted: Ids, step: int, instead: int) -> Swapped:
    """Patch one head at a time. Raises ValueError where the two sentences lead to the same logits."""
    return _swapped(name, version(name), *_ids(trace), corrupted, step, instead)


def states_of(name: str, trace: Trace, corrupted: Ids, step: int, instead: int) -> dict[str, np.ndarray]:
    """Return the share that one state of one token restores: by stack [L + 1, N]. Raises ValueError as `swapped_of`."""
    return _states(name, version(name), *_ids(trace), corrupted, step, instead)


def _ids(trace: Trace) -> tuple[Ids, Ids]:
    return tuple(trace.source.ids), tuple(trace.target.ids)


@cached(20, "Measuring where the words came from")
def _measured(name: str, version: Version, source: Ids, target: Ids) -> why.MeasuredOrigins:
    return why.measured(translator(name).model, source, target)


@cached(50, "Reading the other candidates")
def _candidates(name: str, version: Version, source: Ids, target: Ids, step: int) -> list[tuple[int, float]]:
    checkpoint = translator(name).checkpoint
    model, labels = checkpoint.model, checkpoint.target_tokenizer.labels
    passed = stream(model, source, target[: step + 2])
    log_probs = model.output(passed.decoder.last[-1]).detach().float().log_softmax(-1)
    best = allowed(log_probs, model.config).topk(min(CANDIDATES + 5, len(log_probs)))
    # Two tokens may read the same, such as an apostrophe with a space before it and one without.
    written = labels([target[step + 1]])[0]
    pairs = [
        (token, math.exp(log_prob))
        for token, log_prob in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        if log_prob > -math.inf and labels([token])[0] != written
    ]
    return pairs[:CANDIDATES]


@cached(50, "Taking the two logits apart")
def _contrast(
    name: str, version: Version, source: Ids, target: Ids, step: int, instead: int
) -> tuple[why.Contrast, np.ndarray]:
    model = translator(name).model
    gradient = why.gradient_times_input(model, source, target, step, instead)
    return why.contrast(model, source, target, step, instead), gradient.source


@cached(20, "Reading every encoder layer")
def _lens(name: str, version: Version, source: Ids, target: Ids) -> why.DecoderLens:
    return why.decoder_lens(translator(name).model, source, target)


@cached(50, "Reading the other sentence")
def _first_difference(name: str, version: Version, corrupted: Ids, target: Ids) -> tuple[int, int]:
    return why.first_difference(translator(name).model, corrupted, target)


@cached(20, "Patching one head at a time")
def _swapped(name: str, version: Version, source: Ids, target: Ids, corrupted: Ids, step: int, instead: int) -> Swapped:
    model = translator(name).model
    pairs = why.partners(source, corrupted)
    corruption = why.Corruption(source, corrupted, target, step, instead, pairs)
    patching = why.patching(model, corruption, ["heads"])
    # A pruned head has no share: NaN, which has no place in an order.
    heads = [(site, head) for site, shares in patching.restored.items() for head in np.flatnonzero(np.isfinite(shares))]
    top = sorted(((site, int(head)) for site, head in heads), key=lambda at: -patching.restored[at[0]][at[1]])[
        :TOP_HEADS
    ]
    (together,) = why.restored_by(model, corruption, [top])
    alone = tuple(
        [index for index in range(len(ids)) if index not in {pair[side] for pair in pairs}]
        for side, ids in enumerate((source, corrupted))
    )
    return Swapped(patching, top, together, (alone[0], alone[1]))


@cached(20, "Patching one state at a time")
def _states(
    name: str, version: Version, source: Ids, target: Ids, corrupted: Ids, step: int, instead: int
) -> dict[str, np.ndarray]:
    pairs = why.partners(source, corrupted)
    corruption = why.Corruption(source, corrupted, target, step, instead, pairs)
    return why.patching(translator(name).model, corruption).states
