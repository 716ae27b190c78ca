"""Every measure of where a token came from, and how far each agrees with leaving source tokens out.

Shapes: S source tokens, T target tokens that are read, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from transformer.analysis.combine import rollout_source
from transformer.analysis.sites import by_kind
from transformer.analysis.stream import stream
from transformer.analysis.values import value_weighted_patterns
from transformer.analysis.why.alti import Contributions, contributions_of, heads_of
from transformer.analysis.why.gradients import gradient_times_input
from transformer.analysis.why.leave_out import leave_one_out, value_zeroing
from transformer.analysis.why.ranks import rank_correlation
from transformer.model import Transformer
from transformer.trace import Kind

ALTI, ATTENTION = "ALTI+", "raw attention"


class Measured(NamedTuple):
    """What each measure says of the tokens behind every step, and what leaving a source token out costs.

    `by_measure` has source [T, S] and prefix [T, T]: shares of "ALTI+", "value zeroing" and "rollout", weights
    of "raw attention", lengths of "norm-weighted", and sizes of a logit of "gradient × input". `left_out` [T, S] is
    in nats.
    """

    by_measure: dict[str, Contributions]
    left_out: np.ndarray


class Agreement(NamedTuple):
    """Spearman's rank correlation with leaving out: mean, standard deviation, and of how many steps or sentences."""

    mean: float
    spread: float
    over: int


def measured(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Measured:
    """By all measures; `source` are ids up to [EOS], `target` from [SOS] to [EOS]."""
    weighted = _mean_of_heads(value_weighted_patterns(model, source, target))
    return Measured(
        {
            **_from_one_pass(model, source, target),
            "norm-weighted": weighted,
            "value zeroing": value_zeroing(model, source, target),
            "gradient × input": _gradients(model, source, target),
        },
        leave_one_out(model, source, target),
    )


def _from_one_pass(model: Transformer, source: Sequence[int], target: Sequence[int]) -> dict[str, Contributions]:
    """What the patterns of one pass say. They are all in memory at once, and freed before the next measure."""
    passed = stream(model, source, target)
    heads = heads_of(passed)
    patterns = by_kind({site: pattern.float().cpu().numpy() for site, pattern in heads.patterns.items()})
    followed = rollout_source(patterns["encoder"], patterns["decoder"], patterns["cross"])
    attention = _mean_of_heads(patterns)
    del patterns
    return {
        ALTI: contributions_of(passed, heads),
        ATTENTION: attention,
        "rollout": Contributions(followed.source[-1], followed.target[-1]),
    }


def _mean_of_heads(patterns: Mapping[Kind, np.ndarray]) -> Contributions:
    return Contributions(patterns["cross"].mean((0, 1)), patterns["decoder"].mean((0, 1)))


def _gradients(model: Transformer, source: Sequence[int], target: Sequence[int]) -> Contributions:
    steps = range(len(target) - 1)
    from_source, prefix = np.zeros((len(steps), len(source))), np.zeros((len(steps), len(steps)))
    for step in steps:
        gradient = gradient_times_input(model, source, target, step)
        from_source[step], prefix[step, : step + 1] = np.abs(gradient.source), np.abs(gradient.prefix)
    return Contributions(from_source, prefix)


def agreements(found: Measured) -> dict[str, Agreement]:
    """Of each measure, over the steps of one translation; the best first."""
    each = {
        name: [rank_correlation(*pair) for pair in zip(shares.source, found.left_out, strict=True)]
        for name, shares in found.by_measure.items()
    }
    return summed_up(each)


def summed_up(each: Mapping[str, Sequence[float]]) -> dict[str, Agreement]:
    """Correlations by measure as mean and spread; the best first, and what has no order last and not a number."""
    together: dict[str, Agreement] = {}
    for name, values in each.items():
        known = np.array([value for value in values if not np.isnan(value)])
        mean, spread = (float(known.mean()), float(known.std())) if len(known) else (float("nan"), float("nan"))
        together[name] = Agreement(mean, spread, len(known))
    return dict(sorted(together.items(), key=lambda item: -np.nan_to_num(item[1].mean, nan=-2.0)))
