"""Measure every head in a batch where its pattern is computed, so that no pattern is stored.

Shapes: B sentences, H heads, Q queries, K keys, W words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from torch import Tensor

from headlight.analysis.atlas.batch import MeasuredBatch
from headlight.analysis.atlas.reading import RULES
from headlight.analysis.measures import (
    MEASURES,
    Context,
    Measure,
    Values,
    compute,
    count_pronouns,
    mean_over_pronouns,
)
from headlight.analysis.sites import kind_of
from transformer.taps import Inputs, Site
from transformer.trace import Kind

Report = Callable[[Site, str, np.ndarray, np.ndarray], None]


def over_corpora() -> list[Measure]:
    """Return the measures of an atlas."""
    return [measure for measure in MEASURES.values() if measure.over_corpora]


def chances(context: Context) -> dict[str, Values]:
    """Return the measures of uniform attention, as of a single head.

    A measure for which uniform attention ties all words has its own `chance`. The measures of pronouns are replaced by
    how often each of RULES is right.
    """
    visible = context.visible.float()[:, None]
    uniform = compute(visible, replace(context, pronouns=None), over_corpora())
    for measure in over_corpora():
        if measure.chance is not None and measure.name in uniform:
            units = uniform[measure.name][1]
            uniform[measure.name] = measure.chance(context)[:, None], units
    if context.pronouns is not None:
        right = mean_over_pronouns(context.pronouns.guessed, context)  # [B, rules]
        uniform |= {rule: (right[:, [column]], count_pronouns(context)) for column, rule in enumerate(RULES)}
    return uniform


@dataclass(frozen=True)
class MeasuringTap:
    """A tap that measures each pattern and changes nothing; `report` gets the values site by site."""

    batch: MeasuredBatch
    report: Report

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        context = self.batch.contexts[kind_of(site)]
        for name, (values, units) in _arrays(compute(pattern.detach().float(), context, over_corpora())).items():
            self.report(site, name, values, units)
        return pattern


def chances_of(batch: MeasuredBatch) -> dict[Kind, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return `chances` of every kind of attention, as arrays."""
    return {kind: _arrays(chances(context)) for kind, context in batch.contexts.items()}


def _arrays(measured: dict[str, Values]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {name: (values.double().cpu().numpy(), units.cpu().numpy()) for name, (values, units) in measured.items()}
