"""The passes that the Anatomy page takes apart, shared by the sessions that look at the same sentence."""

from __future__ import annotations

import numpy as np

from headlight.analysis import anatomy, masks, recurrence
from headlight.analysis.anatomy import ScoreSpread
from headlight.analysis.masks import Mask, Matrices
from headlight.analysis.plane import WordVectors, word_vectors
from headlight.analysis.relatives import WidthEffect, by_width
from headlight.analysis.several_heads import SeveralHeads, several_heads
from headlight.analysis.stream import Lens, Stream, lens, stream
from transformer import Trace
from transformer.taps import Site
from ui.state.cache import cached
from ui.state.models import translator, versioned

Ids = tuple[int, ...]

GAINS = (0.9, 1.0, 2.0)  # of the recurrent networks beside attention
STEPS = 50


def stream_of(name: str, trace: Trace) -> Stream:
    """Return the residual stream of a trace's own source and target."""
    return _stream(name, tuple(trace.source.ids), tuple(trace.target.ids))


def lens_of(name: str, trace: Trace) -> Lens:
    """Return what each layer of the decoder predicts in that pass."""
    return _lens(name, tuple(trace.source.ids), tuple(trace.target.ids))


def whole_head(name: str, traces: tuple[Trace, ...], site: Site, head: int, mask: Mask | None) -> tuple[Matrices, ...]:
    """Return one head over the sentences of a padded batch, with another mask in place of the model's own."""
    sources = tuple(tuple(trace.source.ids) for trace in traces)
    reads = tuple(tuple(trace.reads.ids) for trace in traces)
    return _whole_head(name, sources, reads, site, head, mask)


@cached(40, "Mapping the words", key=versioned)
def words_at_head(name: str, site: Site, head: int, words: tuple[Ids, ...]) -> WordVectors:
    """Return typed words, as the ids of their tokens, at one head of a self-attention."""
    return word_vectors(translator(name).model, site, head, words)


@cached(40, "Computing the head's matrices", key=versioned)
def _whole_head(
    name: str, sources: tuple[Ids, ...], reads: tuple[Ids, ...], site: Site, head: int, mask: Mask | None
) -> tuple[Matrices, ...]:
    return tuple(masks.whole_head(translator(name).model, sources, reads, site, head, mask))


@cached(40, "Leaving one head at a time", key=versioned)
def heads_alone(name: str, source: Ids, target: Ids, site: Site) -> SeveralHeads:
    """Return the log-probability of the translation with only one head of an attention left."""
    return several_heads(translator(name).model, source, target, site)


@cached(20, "Drawing random queries and keys")
def against_width(keys: int) -> list[tuple[ScoreSpread, ScoreSpread]]:
    """Return the random half of the picture of the scaling; the same for every model."""
    return anatomy.against_width(keys)


@cached(20, "Drawing random queries and keys")
def additive_by_width(keys: int) -> dict[str, list[WidthEffect]]:
    """Return additive attention beside dot products at each width; the same for every model."""
    return by_width(keys, anatomy.WIDTHS)


@cached(1, "Following the gradient back")
def gradients_by_distance() -> tuple[dict[float, np.ndarray], np.ndarray]:
    """Return a recurrent network's gradients by distance, for each gain, and attention's."""
    return recurrence.by_distance(GAINS, STEPS)


@cached(20, "Following the residual stream", key=versioned)
def _stream(name: str, source: Ids, target: Ids) -> Stream:
    return stream(translator(name).model, source, target)


@cached(20, "Reading every layer", key=versioned)
def _lens(name: str, source: Ids, target: Ids) -> Lens:
    predictions = lens(_stream(name, source, target))
    for array in predictions:
        array.setflags(write=False)
    return predictions
