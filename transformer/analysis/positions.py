"""Codes of positions, and what can be measured on them.

Letters: N positions, D numbers in a code, P = D / 2 pairs of them. A table is [N, D], in double precision: an angle
of thousands of radians has few digits left in single.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transformer.quoting import quoted

BASE = 10_000.0  # of the paper
# The schemes that are a formula. A learned table is the sixth, and has none.
FORMULAS = ("sinusoidal", "none", "integer", "normalised", "binary")


def frequencies(d_model: int, base: float = BASE) -> np.ndarray:
    """ω_i = base^(-2i / d_model), in radians a position: [P]. Raises ValueError where `d_model` is odd."""
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"d_model is {d_model}; sinusoidal positions pair a sine with a cosine, so choose an even number."
        )
    return base ** (-np.arange(0, d_model, 2) / d_model)


def sinusoid(positions: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """PE(p, 2i) = sin(p ω_i), PE(p, 2i + 1) = cos(p ω_i) (section 3.5 of the paper): [N, D].

    `positions` [N] need not be whole numbers: between the words the waves go on.
    """
    angle = np.outer(positions, omega)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(angle), -1)


def encoding(scheme: str, length: int, d_model: int, base: float = BASE) -> np.ndarray:
    """The table of a text of `length` tokens.

    "sinusoidal" and "none" have `d_model` numbers, "integer" (0, 1, 2, ...) and "normalised" (from 0 to 1, however
    long the text) have one, "binary" as many bits as the last position needs, the lowest first.
    Raises ValueError for another scheme and for an odd `d_model` of sinusoidal positions.
    """
    p = np.arange(length)
    if scheme == "sinusoidal":
        return sinusoid(p, frequencies(d_model, base))
    if scheme == "none":
        return np.zeros((length, d_model))
    if scheme == "integer":
        return p[:, None].astype(np.float64)
    if scheme == "normalised":
        return p[:, None] / max(length - 1, 1)
    if scheme == "binary":
        bits = max(length - 1, 1).bit_length()
        return (p[:, None] >> np.arange(bits) & 1).astype(np.float64)
    raise ValueError(f"There is no scheme {quoted(scheme)}; choose one of {', '.join(FORMULAS)}.")


# ---- similarity ----


def similarity(table: np.ndarray, p: int) -> np.ndarray:
    """The cosine between the code of `p` and that of each position: [N]; NaN where one of them is all zeros."""
    length = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return table @ table[p] / (length * length[p])


def similarity_gap(table: np.ndarray, positions: Sequence[int]) -> float:
    """The most that the similarity at one distance differs between `positions`; NaN where none can be compared.

    It is 0 where similarity depends on the distance alone.
    """
    n = len(table)
    curves = np.full((len(positions), 2 * n - 1), np.nan)  # by distance, from 1 - N to N - 1
    for row, p in zip(curves, positions, strict=True):
        row[n - 1 - p : 2 * n - 1 - p] = similarity(table, p)
    shared = curves[:, np.isfinite(curves).sum(0) > 1]
    return float((np.nanmax(shared, 0) - np.nanmin(shared, 0)).max()) if shared.size else float("nan")


# ---- a shift is a rotation ----


def rotation(k: int, omega: float) -> np.ndarray:
    """M_k = [[cos kω, sin kω], [-sin kω, cos kω]], with (sin, cos)(p + k) = M_k (sin, cos)(p) at every p: [2, 2]."""
    return np.array([[np.cos(k * omega), np.sin(k * omega)], [-np.sin(k * omega), np.cos(k * omega)]])


def rotation_residual(k: int, omega: np.ndarray, positions: int = 10_000, dtype: type = np.float64) -> float:
    """The largest |PE(p + k) - M_k PE(p)| over positions 0 to `positions` - 1 and all pairs, calculated in `dtype`."""
    p: np.ndarray = np.arange(positions).astype(dtype)
    largest = 0.0
    for w in omega.astype(dtype):
        turn = rotation(dtype(k), w)
        here = np.stack([np.sin(p * w), np.cos(p * w)])
        there = np.stack([np.sin((p + dtype(k)) * w), np.cos((p + dtype(k)) * w)])
        largest = max(largest, float(np.abs(there - turn @ here).max()))
    return largest


# ---- what a scheme has and what it lacks ----


@dataclass(frozen=True)
class Properties:
    """What was measured on a scheme over N positions; NaN where there are too few of them."""

    positions: int
    closest: float  # the smallest distance between the codes of two positions: 0 where two are alike
    largest: float  # the largest size of a number in the table
    step: float  # the largest distance between neighbours, as a share of the mean distance of two positions
    misfit: float  # how far the best linear map from p to p + 1 is off, as a share of the mean step
    reach: float | None  # the largest size of a number in a text twice as long; None where there is no such table
    moved: float  # how much the code of a position changes in a text twice as long
    added: int  # how many more numbers a code has in a text twice as long


def properties(table: np.ndarray, longer: np.ndarray | None) -> Properties:
    """Measures a scheme on its `table` and on that of a text twice as long, None where the table can't be longer."""
    n, width = table.shape
    same = table if longer is None else longer[:n, :width]
    return Properties(
        positions=n,
        largest=float(np.abs(table).max()),
        **_distances(table),
        misfit=shift_misfit(table, same),
        reach=None if longer is None else float(np.abs(longer).max()),
        moved=float(np.abs(same - table).max()),
        added=0 if longer is None else longer.shape[1] - width,
    )


def _distances(table: np.ndarray) -> dict[str, float]:
    n = len(table)
    if n < 2:
        return {"closest": float("nan"), "step": float("nan")}
    lengths = (table**2).sum(1)
    squares = np.maximum(lengths[:, None] + lengths - 2 * table @ table.T, 0)
    first, second = np.triu_indices(n, 1)
    pairs = squares[first, second]
    nearest = pairs.argmin()  # measured again without the rounding of the three terms
    closest = np.linalg.norm(table[first[nearest]] - table[second[nearest]])
    mean, step = np.sqrt(pairs).mean(), np.linalg.norm(np.diff(table, axis=0), axis=1).max()
    return {"closest": float(closest), "step": float(step / mean) if mean else float("nan")}


def shift_misfit(table: np.ndarray, other: np.ndarray, k: int = 1) -> float:
    """How far one linear map (with a bias) is from being the step of `k` positions, as a share of the mean step.

    The map is the best in least squares for three positions in four of `table`; what counts is the furthest that it
    is off at the fourth ones, in `other`, the codes of the same positions in another text. 0 where nothing moves,
    NaN where there are too few positions.
    """
    p: np.ndarray = np.arange(max(len(table) - k, 0))
    kept, tried = p[p % 4 != 3], p[p % 4 == 3]
    if not len(tried):
        return float("nan")

    def lifted(x: np.ndarray) -> np.ndarray:
        return np.hstack([x, np.ones((len(x), 1))])

    best = np.linalg.lstsq(lifted(table[kept]), table[kept + k], rcond=None)[0]
    off = np.linalg.norm(lifted(other[tried]) @ best - other[tried + k], axis=1).max()
    step = np.linalg.norm(other[tried + k] - other[tried], axis=1).mean()
    return float(off / step) if step else 0.0
