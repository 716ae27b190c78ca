"""Why the scores are divided by √d_head: their variance, and how far the softmax is from spreading, against d_head.

Shapes: Q queries, K keys, D = d_head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headlight.analysis.anatomy import softmax

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
DRAWS, QUERIES = 20, 20  # of keys, and of queries for each: one draw of a few keys would say little


@dataclass(frozen=True)
class ScoreSpread:
    """The spread of scores and of their softmax, as means over the queries."""

    variance: float  # of the scores
    largest: float  # weight of a row: 1 / K where it looks at all keys alike, 1 where at one alone
    entropy: float  # of a row, as a share of that of looking at all keys alike


def spread(scores: np.ndarray) -> ScoreSpread:
    """Measure the spread of scores [Q, K]."""
    weights = softmax(scores)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = -(weights * logs).sum(-1).mean() / math.log(max(weights.shape[-1], 2))
    return ScoreSpread(float(scores.var()), float(weights.max(-1).mean()), float(entropy))


def against_width(keys: int, widths: Sequence[int] = WIDTHS, seed: int = 0) -> list[tuple[ScoreSpread, ScoreSpread]]:
    """Return the spread of random scores at each width, as they are and divided by √d.

    The vectors' numbers have mean 0 and variance 1.
    """
    draw = np.random.default_rng(seed)
    spreads = []
    for width in widths:
        scores = np.concatenate(
            [draw.standard_normal((QUERIES, width)) @ draw.standard_normal((width, keys)) for _ in range(DRAWS)]
        )
        spreads.append((spread(scores), spread(scores / math.sqrt(width))))
    return spreads
