"""Variants of attention: additive scores by width, and sparse and linear attention on a head's own vectors.

Shapes: Q queries, K keys, D = d_k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headlight.analysis.anatomy import softmax

DRAWS, QUERIES = 10, 20  # draws of keys and weights, and queries for each


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


def by_width(keys: int, widths: Sequence[int]) -> dict[str, list[WidthEffect]]:
    """Return dot products, divided ones, and additive scores of random vectors of variance 1, at each width.

    W, U and v have variance 1 / d_k, so that the outputs of each layer have the same size at every width.
    """
    rng = np.random.default_rng(0)
    effects: dict[str, list[WidthEffect]] = {"dot product": [], "divided by √d_k": [], "additive": []}
    for width in widths:
        drawn: dict[str, list[np.ndarray]] = {name: [] for name in effects}
        for _ in range(DRAWS):
            q, k = rng.standard_normal((QUERIES, width)), rng.standard_normal((keys, width))
            w, u = rng.standard_normal((2, width, width)) / math.sqrt(width)
            scores = q @ k.T
            scores_by_form = (
                scores,
                scores / math.sqrt(width),
                additive_scores(q, k, w, u, rng.standard_normal(width) / math.sqrt(width)),
            )
            for rows, scores in zip(drawn.values(), scores_by_form, strict=True):
                rows.append(scores)
        for name, rows in drawn.items():
            variance = float(np.mean([of_draw.var() for of_draw in rows]))
            effects[name].append(WidthEffect(variance, softmax_slope(np.concatenate(rows))))
    return effects


def stride(tokens: int) -> int:
    """Return the stride of sparse attention over so many keys: about √n, which makes its cost n · √n."""
    return max(1, round(math.sqrt(tokens)))


def sparse_visible(queries: int, keys: int, step: int) -> np.ndarray:
    """Return the mask of strided sparse attention (Child et al. 2019): bool [Q, K], True where a key is visible.

    Visible are the keys at most `step` away and those at multiples of `step`. The paper allows only earlier keys, which
    a decoder head's own mask ensures.
    """
    distances = np.abs(np.arange(queries)[:, None] - np.arange(keys))
    visible: np.ndarray = (distances <= step) | (distances % step == 0)
    return visible


def masked_softmax(scores: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Return the softmax over the visible keys, [Q, K]; a row that sees no key is 0."""
    weights = softmax(np.where(visible | ~visible.any(-1, keepdims=True), scores, -np.inf))
    return np.where(visible, weights, 0.0)


def linear_weights(q: np.ndarray, k: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Return the weights of linear attention (Katharopoulos et al. 2020), [Q, K], from q [Q, D] and k [K, D].

    φ(q)ᵀ φ(k) replaces e^score, with φ(x) = elu(x) + 1. Implementations never compute these weights: they sum φ(k) vᵀ
    over the keys once.
    """
    similarity = np.where(visible, _feature(q) @ _feature(k).T, 0.0)
    sums = similarity.sum(-1, keepdims=True)
    return np.divide(similarity, sums, out=np.zeros_like(similarity), where=sums > 0)


def _feature(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    feature: np.ndarray = np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    return feature
