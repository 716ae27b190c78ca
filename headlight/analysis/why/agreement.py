"""All measures of where a token came from, and the agreement of each with leaving source tokens out.

Shapes: S source tokens, T target tokens that are read, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headlight.analysis.atlas.faithfulness import rank_correlation
from headlight.analysis.combine import rollout_source
from headlight.analysis.sites import by_kind, require_intervened_heads
from headlight.analysis.stream import stream
from headlight.analysis.values import value_weighted_patterns
from headlight.analysis.why.alti import Contributions, contributions_of, heads_of
from headlight.analysis.why.gradients import IntegratedGradients, gradient_times_input, integrated_gradients
from headlight.analysis.why.leave_out import leave_one_out, value_zeroing
from transformer.model import Transformer
from transformer.taps import Tap
from transformer.trace import Kind

ALTI, ATTENTION, INTEGRATED = "ALTI+", "raw attention", "integrated gradients"
RESAMPLES = 2000


class MeasuredOrigins(NamedTuple):
    """The attribution of every step to the earlier tokens by each measure, and the effect of leaving a token out.

    Each measure has `source` [T, S] and `prefix` [T, T]. The numbers are shares for "ALTI+", "value zeroing" and
    "rollout", attention weights for "raw attention", vector norms for "norm-weighted", and absolute contributions to a
    logit for "gradient × input" and, if they were computed, "integrated gradients". `left_out` [T, S] is in nats.
    """

    by_measure: dict[str, Contributions]
    left_out: np.ndarray


class Agreement(NamedTuple):
    """Spearman's rank correlation with leaving out: mean, standard deviation, and the number of steps or sentences.

    `low` and `high` are the ends of the 95 % bootstrap interval of the mean.
    """

    mean: float
    spread: float
    over: int
    low: float
    high: float


def measured(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> MeasuredOrigins:
    """Compute all measures but integrated gradients, which take ten times as long as all others together.

    `source` are ids up to [EOS], `target` from [SOS] to [EOS]. `tap` intervenes in every pass. Raises ValueError for an
    intervention on a head that the model lacks.
    """
    require_intervened_heads(model, tap)
    weighted = _mean_of_heads(value_weighted_patterns(model, source, target, tap))
    return MeasuredOrigins(
        {
            **_from_one_pass(model, source, target, tap),
            "norm-weighted": weighted,
            "value zeroing": value_zeroing(model, source, target, tap),
            "gradient × input": _gradients(model, source, target, tap),
        },
        leave_one_out(model, source, target, tap),
    )


def _from_one_pass(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None
) -> dict[str, Contributions]:
    """Compute the measures that need the patterns of one pass, which are all in memory until this returns."""
    passed = stream(model, source, target, tap)
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


def _gradients(model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None) -> Contributions:
    steps = range(len(target) - 1)
    from_source, prefix = np.zeros((len(steps), len(source))), np.zeros((len(steps), len(steps)))
    for step in steps:
        gradient = gradient_times_input(model, source, target, step, tap=tap)
        from_source[step], prefix[step, : step + 1] = np.abs(gradient.source), np.abs(gradient.prefix)
    return Contributions(from_source, prefix)


def with_integrated(origins: MeasuredOrigins, steps: Sequence[IntegratedGradients]) -> MeasuredOrigins:
    """Return `origins` with the absolute integrated gradients of every step, `steps`, added as a measure."""
    source, prefix = (np.zeros_like(side) for side in origins.by_measure[ALTI])
    for step, gradients in enumerate(steps):
        source[step], prefix[step, : step + 1] = np.abs(gradients.source), np.abs(gradients.prefix)
    return origins._replace(by_measure=origins.by_measure | {INTEGRATED: Contributions(source, prefix)})


def integrated_steps(
    model: Transformer, source: Sequence[int], target: Sequence[int], tap: Tap | None = None
) -> list[IntegratedGradients]:
    """Return the integrated gradients of every step of a translation; `tap` intervenes."""
    return [integrated_gradients(model, source, target, step, tap=tap) for step in range(len(target) - 1)]


def correlations(origins: MeasuredOrigins, signed: bool = False) -> dict[str, list[float]]:
    """Return the rank correlation of each measure with leaving out, for each step of one translation.

    Measures are compared with the absolute change of a token's log-probability: only gradients have a sign, so a source
    token that makes the written token less likely counts like one that makes it more likely. With `signed`, such tokens
    should rank last.
    """
    effect = origins.left_out if signed else np.abs(origins.left_out)
    return {
        name: [float(rank_correlation(*pair)) for pair in zip(shares.source, effect, strict=True)]
        for name, shares in origins.by_measure.items()
    }


def agreements(origins: MeasuredOrigins, signed: bool = False) -> dict[str, Agreement]:
    """Return the agreement of each measure over the steps of one translation; see `correlations`."""
    return summed_up(correlations(origins, signed))


def summed_up(each: Mapping[str, Sequence[float]]) -> dict[str, Agreement]:
    """Return mean, spread and interval of the correlations by measure; NaN for a measure without a defined one."""
    together: dict[str, Agreement] = {}
    for name, values in each.items():
        defined = np.array([value for value in values if not np.isnan(value)])
        if not len(defined):
            together[name] = Agreement(np.nan, np.nan, 0, np.nan, np.nan)
            continue
        low, high = _interval(defined)
        together[name] = Agreement(float(defined.mean()), float(defined.std()), len(defined), low, high)
    return together


def close_to_best(each: Mapping[str, Sequence[float]]) -> tuple[str, list[str]]:
    """Return the measure with the highest mean, and those whose paired difference to it may be chance (95 %)."""
    means = {name: float(np.nanmean(values)) for name, values in each.items() if not np.isnan(values).all()}
    best = max(means, key=lambda name: means[name])
    close = []
    for name in means.keys() - {best}:
        difference = np.array(each[best]) - np.array(each[name])
        if _interval(difference[~np.isnan(difference)])[0] <= 0:
            close.append(name)
    return best, sorted(close)


def _interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the mean, by the percentiles of RESAMPLES bootstrap means (Efron 1979)."""
    drawn = np.random.default_rng(0).integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.percentile(values[drawn].mean(1), [2.5, 97.5])
    return float(low), float(high)
