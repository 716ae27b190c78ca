"""The measures of an atlas for one pattern, and for uniform attention.

Shapes: B sentences, H heads, Q queries, K keys.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from torch import Tensor

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


def over_corpora() -> list[Measure]:
    """Return the measures of an atlas."""
    return [measure for measure in MEASURES.values() if measure.over_corpora]


def measured_pattern(pattern: Tensor, context: Context) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the measures of an atlas for a pattern [B, H, Q, K], and the units of each."""
    return _arrays(compute(pattern.detach().float(), context, over_corpora()))


def chances(context: Context) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the measures of uniform attention, as of a single head, and the units of each.

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
    return _arrays(uniform)


def _arrays(measured: dict[str, Values]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {name: (values.double().cpu().numpy(), units.cpu().numpy()) for name, (values, units) in measured.items()}
