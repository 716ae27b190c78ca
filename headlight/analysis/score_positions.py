"""Positions that change the scores of attention and leave the embeddings alone: rotary positions and ALiBi.

Letters: N tokens, D numbers of a query or a key, P = D / 2 pairs of them, H heads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headlight.analysis.positions import frequencies, sinusoid

SCORE_SCHEMES = ("sinusoidal", "rotary", "alibi")  # sinusoidal changes the embeddings, and is here for comparison
SHIFT_POSITIONS = 10  # by which a whole text is moved


def rotate(x: np.ndarray, positions: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Turn each pair of numbers of queries or keys by the angle position · ω: [N, D] to [N, D].

    Rotary positions, RoPE (Su et al. 2021, "RoFormer", section 3.2.2). `positions` is [N], `omega` [P].
    """
    angle = np.outer(positions, omega)
    first, second = x[:, ::2], x[:, 1::2]
    turned = (first * np.cos(angle) - second * np.sin(angle), first * np.sin(angle) + second * np.cos(angle))
    return np.stack(turned, -1).reshape(x.shape)


def alibi_slopes(heads: int) -> np.ndarray:
    """Return the slope of each head, 2^(-8 h / H) for h = 1 to H (Press et al. 2021, "Train short, test long"): [H]."""
    slopes: np.ndarray = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    return slopes


def positioned_scores(
    scheme: str, q: np.ndarray, k: np.ndarray, positions: np.ndarray, base: float, slope: float
) -> np.ndarray:
    """Return the scores q kᵀ / √D with positions: [N, N].

    "sinusoidal" adds the encoding to what `q` and `k` [N, D] are; "rotary" turns both; "alibi" subtracts slope ·
    distance. "none" leaves them alone. `positions` is [N].
    """
    omega = frequencies(q.shape[1], base)
    if scheme == "sinusoidal":
        q, k = q + sinusoid(positions, omega), k + sinusoid(positions, omega)
    elif scheme == "rotary":
        q, k = rotate(q, positions, omega), rotate(k, positions, omega)
    scores: np.ndarray = q @ k.T / math.sqrt(q.shape[1])
    return scores - slope * np.abs(np.subtract.outer(positions, positions)) if scheme == "alibi" else scores


@dataclass(frozen=True)
class ScoreProperties:
    """The effects of a scheme on scores, in units of their standard deviation without positions."""

    shifted: float  # the largest change of a score when the whole text moves by SHIFT_POSITIONS
    fall: float  # how much lower the score of two equal tokens is, as a mean, in the far half than at neighbours
    lowest: float  # the most that positions lower the score of two equal tokens
    longer: float  # the same in a text twice as long


def score_properties(scheme: str, length: int, d_model: int, base: float, slope: float) -> ScoreProperties:
    """Measure a scheme over `length` tokens whose queries and keys are random numbers of variance 1."""
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, length, d_model))
    p: np.ndarray = np.arange(length)
    unmoved, moved = (positioned_scores(scheme, q, k, p + by, base, slope) for by in (0, SHIFT_POSITIONS))
    equal = equal_token_scores(scheme, length, d_model, base, slope)
    distance = np.abs(np.subtract.outer(p, p))
    fall = equal[distance == 1].mean() - equal[distance >= length // 2].mean()
    lowest, longer = (
        np.maximum(scores[0, 0] - scores, 0).max()
        for scores in (equal, equal_token_scores(scheme, 2 * length, d_model, base, slope))
    )
    return ScoreProperties(float(np.abs(moved - unmoved).max()), float(fall), float(lowest), float(longer))


def equal_token_scores(scheme: str, length: int, d_model: int, base: float, slope: float) -> np.ndarray:
    """Return the scores of a text that repeats one random token, so that positions alone differ: [N, N]."""
    token = np.random.default_rng(1).standard_normal(d_model)
    tokens = np.tile(token, (length, 1))
    return positioned_scores(scheme, tokens, tokens, np.arange(length), base, slope)
