"""Rows of attention as shares: what sums to 1, and what does not."""

from __future__ import annotations

import numpy as np


def normalise(patterns: np.ndarray) -> np.ndarray:
    """Every row, along the last axis, divided by its sum; a row that sums to 0 stays 0."""
    total = patterns.sum(-1, keepdims=True)
    return np.divide(patterns, total, out=np.zeros_like(patterns), where=total != 0)
