"""The measurements of the Why page, shared by the sessions that look at the same sentence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from transformer import Trace
from transformer.analysis import rollout_source, value_weighted_patterns, why
from transformer.analysis.stream import stream
from ui.state.cache import kept
from ui.state.models import translator, version

Ids = tuple[int, ...]
Version = tuple[int, ...]


class Origins(NamedTuple):
    """Where the tokens of a translation came from, by each measure.

    `measures` has for each name the values of the source tokens behind every step [T, S]; `left_out` is what they are
    compared with, in nats.
    """

    shares: why.Contributions
    left_out: np.ndarray  # [T, S]
    measures: dict[str, np.ndarray]


def origins_of(name: str, trace: Trace) -> Origins:
    """By all measures; those of attention alone are the trace's own."""
    measured = _origins(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids))
    attention = {
        "raw attention": trace.cross.mean((0, 1)),
        "rollout": rollout_source(trace.encoder, trace.decoder, trace.cross).source[-1],
    }
    return measured._replace(measures=attention | measured.measures)


def candidates_of(name: str, trace: Trace, step: int) -> list[tuple[int, float]]:
    """The five most probable other tokens at a step, with their probabilities."""
    return _candidates(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids), step)


def contrast_of(name: str, trace: Trace, step: int, instead: int) -> tuple[why.Contrast, np.ndarray]:
    """The two logits in parts, and the contrastive gradient times input of the source tokens [S]."""
    return _contrast(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids), step, instead)


def lens_of(name: str, trace: Trace) -> why.DecoderLens:
    return _lens(name, version(name), tuple(trace.source.ids), tuple(trace.target.ids))


@kept(20, "Measuring where the words came from")
def _origins(name: str, version: Version, source: Ids, target: Ids) -> Origins:
    model = translator(name).model
    shares = why.contributions(model, source, target)
    left_out = why.leave_one_out(model, source, target)
    zeroing = why.value_zeroing(model, source, target)
    weighted = value_weighted_patterns(model, source, target)
    gradient = [why.gradient_times_input(model, source, target, step).source for step in range(len(target) - 1)]
    return Origins(
        shares,
        left_out,
        {
            "norm-weighted": weighted["cross"].mean((0, 1)),
            "ALTI+": shares.source,
            "value zeroing": zeroing.source,
            "gradient × input": np.abs(gradient),
        },
    )


@kept(50, "Reading the other candidates")
def _candidates(name: str, version: Version, source: Ids, target: Ids, step: int) -> list[tuple[int, float]]:
    model = translator(name).model
    passed = stream(model, source, target[: step + 2])
    log_probs = model.output(passed.decoder.last[-1]).detach().float().log_softmax(-1)
    best = log_probs.topk(min(6, len(log_probs)))
    pairs = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
    return [(token, probability) for token, probability in pairs if token != target[step + 1]][:5]


@kept(50, "Taking the two logits apart")
def _contrast(
    name: str, version: Version, source: Ids, target: Ids, step: int, instead: int
) -> tuple[why.Contrast, np.ndarray]:
    model = translator(name).model
    gradient = why.gradient_times_input(model, source, target, step, instead)
    return why.contrast(model, source, target, step, instead), gradient.source


@kept(20, "Reading every encoder layer")
def _lens(name: str, version: Version, source: Ids, target: Ids) -> why.DecoderLens:
    return why.decoder_lens(translator(name).model, source, target)
