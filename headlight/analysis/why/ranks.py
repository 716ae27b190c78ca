"""How well two measures agree on an order."""

from __future__ import annotations

import numpy as np


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's ρ of two lists of numbers: the correlation of their ranks, equal numbers sharing the mean of theirs.

    Not a number where one of them has no order: all equal, or a single number.
    """
    a, b = _ranks(one), _ranks(other)
    a, b = a - a.mean(), b - b.mean()
    spread = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / spread) if spread > 0 else float("nan")


def _ranks(numbers: np.ndarray) -> np.ndarray:
    _, place, count = np.unique(np.asarray(numbers, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: np.ndarray = (last - (count - 1) / 2)[place]
    return ranks
