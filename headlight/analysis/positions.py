"""Positional encodings, and measurements of their properties.

Letters: N positions, D numbers in a code, P = D / 2 pairs of them. A table is [N, D], in double precision: an angle of
thousands of radians has few digits left in single.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transformer.quoting import quoted

BASE = 10_000.0  # in the paper
SINGLE_WAVE_SCHEMES = ("sine", "cosine")  # the sinusoid with only one of its functions, to show why it needs both
# The schemes that are a formula. A learned table has none.
FORMULAS = ("sinusoidal", "none", "integer", "normalised", "binary", *SINGLE_WAVE_SCHEMES)


def frequencies(d_model: int, base: float = BASE) -> np.ndarray:
    """Return ω_i = base^(-2i / d_model), in radians per position: [P]. Raises ValueError for an odd `d_model`."""
    if d_model < 2 or d_model % 2:
        raise ValueError(
            f"d_model is {d_model}; sinusoidal positions pair a sine with a cosine, so choose an even number."
        )
    return base ** (-np.arange(0, d_model, 2) / d_model)


def sinusoid(positions: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Return PE(p, 2i) = sin(p ω_i), PE(p, 2i + 1) = cos(p ω_i) (section 3.5 of the paper): [N, D].

    `positions` [N] need not be integers: the waves are continuous.
    """
    angle = np.outer(positions, omega)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(angle), -1)


def encoding(scheme: str, length: int, d_model: int, base: float = BASE) -> np.ndarray:
    """Return the table of a text of `length` tokens.

    "sinusoidal" and "none" have `d_model` numbers, as have "sine" and "cosine", whose dimension j is that function of
    p base^(-j / d_model) alone; "integer" (0, 1, 2, ...) and "normalised" (from 0 to 1, however
    long the text) have one, "binary" as many bits as the last position needs, the lowest first.
    Raises ValueError for another scheme and for an odd `d_model` of sinusoidal positions.
    """
    p = np.arange(length)
    if scheme == "sinusoidal":
        return sinusoid(p, frequencies(d_model, base))
    if scheme in SINGLE_WAVE_SCHEMES:
        angle = np.outer(p, base ** (-np.arange(d_model) / d_model))
        return np.sin(angle) if scheme == "sine" else np.cos(angle)
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


@dataclass(frozen=True)
class EncodingEntry:
    """One number of the sinusoidal encoding and its parts: value = sin or cos of position / divisor."""

    position: int
    dimension: int
    pair: int  # i, of dimensions 2i and 2i + 1
    divisor: float  # base^(2i / d_model)
    angle: float  # in radians
    value: float

    @property
    def function(self) -> str:
        """The function: sine at even dimensions, cosine at odd ones."""
        return "cos" if self.dimension % 2 else "sin"


def entry(position: int, dimension: int, d_model: int, base: float = BASE) -> EncodingEntry:
    """Compute PE(position, dimension) by the paper's formula, step by step.

    Raises ValueError for an odd `d_model`, and for a dimension that does not exist.
    """
    omega = frequencies(d_model, base)
    if not 0 <= dimension < d_model:
        raise ValueError(f"The dimension is {dimension}; with d_model {d_model}, choose one from 0 to {d_model - 1}.")
    pair = dimension // 2
    divisor = base ** (2 * pair / d_model)
    value = sinusoid(np.array([position]), omega)[0, dimension]
    return EncodingEntry(position, dimension, pair, divisor, position / divisor, float(value))


def exp_log_difference(d_model: int, base: float = BASE, dtype: type = np.float32) -> float:
    """Return the largest relative difference of exp(-(2i / d_model) ln base), in `dtype`, to 1 / base^(2i / d_model).
    """
    exponents: np.ndarray = (np.arange(0, d_model, 2) / d_model).astype(dtype)
    by_log = np.exp(-exponents * dtype(np.log(base))).astype(np.float64)
    return float(np.abs(by_log / frequencies(d_model, base) - 1).max())


DISTANCES = (1, 10, 100)  # between two positions, to compare bases at
LONG_SENTENCE_POSITIONS = 100  # within which a slow wave hardly moves


@dataclass(frozen=True)
class BaseEffects:
    """The properties of the sinusoidal encoding with one base."""

    slowest: float  # wavelength, in positions
    similarities: tuple[float, ...]  # the cosine of two encodings at each of DISTANCES
    still: float  # the share of waves that turn less than a tenth of a circle in LONG_SENTENCE_POSITIONS positions


def base_effects(d_model: int, base: float) -> BaseEffects:
    """Compute the properties of a base from its frequencies: the cosine of PE(p) and PE(p + k) is the mean of cos kω.

    Raises ValueError for an odd `d_model`.
    """
    omega = frequencies(d_model, base)
    similarities = tuple(float(np.cos(k * omega).mean()) for k in DISTANCES)
    still = float((LONG_SENTENCE_POSITIONS * omega < 0.2 * np.pi).mean())
    return BaseEffects(float(2 * np.pi / omega[-1]), similarities, still)


# ---- similarity ----


def similarity(table: np.ndarray, p: int) -> np.ndarray:
    """Return the cosine between the code of `p` and that of each position: [N]; NaN where one of them is all zeros."""
    length = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return table @ table[p] / (length * length[p])


def similarity_gap(table: np.ndarray, positions: Sequence[int]) -> float:
    """Return the most that the similarity at one distance differs between `positions`; NaN where none can be compared.

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
    """Return M_k = [[cos kω, sin kω], [-sin kω, cos kω]], which maps (sin, cos)(p) to (sin, cos)(p + k): [2, 2]."""
    return np.array([[np.cos(k * omega), np.sin(k * omega)], [-np.sin(k * omega), np.cos(k * omega)]])


def rotation_residual(k: int, omega: np.ndarray, positions: int = 10_000, dtype: type = np.float64) -> float:
    """Return the largest |PE(p + k) - M_k PE(p)| over positions 0 to `positions` - 1 and all pairs, calculated in
    `dtype`."""
    p: np.ndarray = np.arange(positions).astype(dtype)
    largest = 0.0
    for w in omega.astype(dtype):
        turn = rotation(dtype(k), w)
        unshifted = np.stack([np.sin(p * w), np.cos(p * w)])
        shifted = np.stack([np.sin((p + dtype(k)) * w), np.cos((p + dtype(k)) * w)])
        largest = max(largest, float(np.abs(shifted - turn @ unshifted).max()))
    return largest


# ---- why both a sine and a cosine ----


@dataclass(frozen=True)
class EqualPositions:
    """Two positions at which one function of an angle is equal, and its values k positions later."""

    positions: tuple[int, int]
    now: tuple[float, float]
    later: tuple[float, float]
    other: tuple[float, float]  # the other function at the two positions, which tells them apart


def find_equal_positions(function: str, k: int, omega: float, positions: int) -> EqualPositions | None:
    """Return two positions where sin or cos of p `omega` is equal but differs `k` later, so no matrix can shift it.

    Of all such pairs below `positions`, return the one whose later values differ most; None if there is none.
    """
    p = np.arange(positions)
    same, differing = (np.sin, np.cos) if function == "sine" else (np.cos, np.sin)
    now, later, other = same(p * omega), same((p + k) * omega), differing(p * omega)
    apart = np.abs(later[:, None] - later)
    apart[np.abs(now[:, None] - now) > _ROUNDING_ERROR] = 0
    if apart.max(initial=0) <= _ROUNDING_ERROR:
        return None
    first, second = sorted(int(i) for i in np.unravel_index(apart.argmax(), apart.shape))
    numbers = ((float(values[first]), float(values[second])) for values in (now, later, other))
    return EqualPositions((first, second), *numbers)


_ROUNDING_ERROR = 1e-9


# ---- what a scheme has and what it lacks ----


@dataclass(frozen=True)
class Properties:
    """The measured properties of a scheme over N positions; NaN where there are too few."""

    positions: int
    closest: float  # the smallest distance between the codes of two positions: 0 where two are equal
    largest: float  # the largest size of a number in the table
    step: float  # the largest distance between neighbours, as a share of the mean distance of two positions
    misfit: float  # how far the best linear map from p to p + 1 is off, as a share of the mean step
    reach: float | None  # the largest size of a number in a text twice as long; None where there is no such table
    moved: float  # how much the code of a position changes in a text twice as long
    added: int  # how many more numbers a code has in a text twice as long
    again: float | None  # how far a code is from one of another seed, as a share of its length; None: not known
    widths: str  # the numbers of dimensions that it can have: "any", "even" or "fixed"


def properties(
    table: np.ndarray, longer: np.ndarray | None, again: np.ndarray | None = None, widths: str = "any"
) -> Properties:
    """Measure a scheme on its `table` and on that of a text twice as long (None if the table can't be longer).

    `again` is the table made a second time, from another random seed if it is trained.
    """
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
        again=None if again is None else _apart(table, again),
        widths=widths,
    )


def widths_of(scheme: str) -> str:
    """Return which numbers of dimensions a formula allows, tried from 2 to 9: "any", "even" or "fixed"."""
    fits = []
    for width in range(2, 10):
        try:
            fits.append(encoding(scheme, 50, width).shape[1] == width)
        except ValueError:
            fits.append(False)
    if all(fits):
        return "any"
    return "even" if fits[::2] == [True] * 4 and not any(fits[1::2]) else "fixed"


def _apart(table: np.ndarray, again: np.ndarray) -> float:
    """Return the mean distance of the two codes of a position, as a share of the mean length of a code."""
    length = np.linalg.norm(table, axis=1).mean()
    return float(np.linalg.norm(table - again, axis=1).mean() / length) if length else 0.0


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
    """Return how far one linear map (with a bias) is from being the step of `k` positions, as a share of the mean step.

    The map is fitted by least squares to three of every four positions of `table`. Its largest error at the fourth
    positions counts, in `other`, the codes of the same positions in another text. 0 where nothing moves; NaN where
    there are too few positions, since a map with as many free numbers as positions would fit anything.
    """
    p: np.ndarray = np.arange(max(len(table) - k, 0))
    fitted, tried = p[p % 4 != 3], p[p % 4 == 3]
    if not len(tried):
        return float("nan")

    def lifted(x: np.ndarray) -> np.ndarray:
        return np.hstack([x, np.ones((len(x), 1))])

    best, _, rank, _ = np.linalg.lstsq(lifted(table[fitted]), table[fitted + k], rcond=None)
    if rank == len(fitted) and rank > 1:
        return float("nan")
    off = np.linalg.norm(lifted(other[tried]) @ best - other[tried + k], axis=1).max()
    step = np.linalg.norm(other[tried + k] - other[tried], axis=1).mean()
    return float(off / step) if step else 0.0
