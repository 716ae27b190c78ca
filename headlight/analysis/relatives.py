"""Additive attention beside dot products: their scores by the width, and what gradient the softmax leaves.

Letters: Q queries, K keys, D = d_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.analysis.anatomy import softmax

DRAWS, QUERIES = 10, 20  # of keys and weights, and of queries for each


def additive_scores(q: np.ndarray, k: np.ndarray, w: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return vᵀ tanh(W q + U k) for each query and key (Bahdanau et al. 2014): [Q, D] and [K, D] to [Q, K]."""
    scores: np.ndarray = np.tanh((q @ w.T)[:, None] + (k @ u.T)[None]) @ v
    return scores


def softmax_slope(scores: np.ndarray) -> float:
    """Return how much the weights of a row [Q, K] follow their own scores: Σ w (1 - w), the trace of the Jacobian.

    It is 0 where one key has all the weight, and nothing is learned. The mean over the queries.
    """
    weights = softmax(scores)
    return float((weights * (1 - weights)).sum(-1).mean())


class WidthEffect(NamedTuple):
    """The variance of random scores at one width, and the softmax's slope there."""

    variance: float
    slope: float


def by_width(keys: int, widths: Sequence[int], seed: int = 0) -> dict[str, list[WidthEffect]]:
    """Return dot products, divided ones, and additive scores of random vectors of variance 1, at each width.

    W, U and v are drawn with variance 1 / d_k, so that what each layer gives has the same size at every width.
    """
    draw = np.random.default_rng(seed)
    effects: dict[str, list[WidthEffect]] = {"dot product": [], "divided by √d_k": [], "additive": []}
    for width in widths:
        drawn: dict[str, list[np.ndarray]] = {name: [] for name in effects}
        for _ in range(DRAWS):
            q, k = draw.standard_normal((QUERIES, width)), draw.standard_normal((keys, width))
            w, u = draw.standard_normal((2, width, width)) / math.sqrt(width)
            scores = q @ k.T
            made = (
                scores,
                scores / math.sqrt(width),
                additive_scores(q, k, w, u, draw.standard_normal(width) / math.sqrt(width)),
            )
            for rows, one in zip(drawn.values(), made, strict=True):
                rows.append(one)
        for name, rows in drawn.items():
            variance = float(np.mean([one.var() for one in rows]))
            effects[name].append(WidthEffect(variance, softmax_slope(np.concatenate(rows))))
    return effects
