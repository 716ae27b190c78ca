"""Measure the numbers of a weights file in chunks: no network is built, and no large tensor is held in memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from transformer.files import open_regular

CHUNK_NUMBERS = 2**21  # numbers that are read at a time; a row of a matrix is never split
HISTOGRAM_BINS = 61  # odd, so that one bar of a histogram around zero stands on it
REACH_DEVIATIONS = 6.0  # standard deviations from the mean; an outlier would put all other numbers into one bar

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Numbers:
    """Statistics of many numbers, without the numbers. NaN and infinities are counted and left out."""

    count: int = 0  # finite numbers
    total: float = 0.0
    squares: float = 0.0
    smallest: float = math.inf
    largest: float = -math.inf
    zeros: int = 0
    broken: int = 0  # NaN or infinite

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else math.nan

    @property
    def deviation(self) -> float:
        """The square root of the mean squared distance from the mean."""
        if not self.count:
            return math.nan
        return math.sqrt(max(self.squares / self.count - self.mean**2, 0.0))

    @property
    def norm(self) -> float:
        """The square root of the sum of squares."""
        return math.sqrt(self.squares)

    def __add__(self, other: Numbers) -> Numbers:
        """Return the statistics of the union of two sets of weights."""
        return Numbers(
            self.count + other.count,
            self.total + other.total,
            self.squares + other.squares,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.zeros + other.zeros,
            self.broken + other.broken,
        )


class Histogram(NamedTuple):
    """The number of values between neighbouring edges; the first and the last bar include those beyond."""

    edges: np.ndarray  # [bars + 1]
    counts: np.ndarray  # [bars]
    below: int
    above: int


def shapes(path: str | Path) -> dict[str, Shape]:
    """Return every tensor of a safetensors file with its shape, from the header alone.

    Raises ValueError for a file of another format.
    """
    with _opened(Path(path)) as file:
        return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118


def pieces(path: str | Path, names: Iterable[str]) -> Iterator[np.ndarray]:
    """Yield the numbers of those tensors in float32, some at a time: [numbers].

    Raises ValueError for a file that ends early. A tensor that the file lacks is an error of the caller.
    """
    with _opened(Path(path)) as file:
        for name in names:
            yield from _pieces(file, name)


def measure(parts: Iterable[np.ndarray]) -> Numbers:
    """Return the statistics of the numbers of several arrays, in one pass."""
    return sum(map(_measured, parts), Numbers())


def measure_file(path: str | Path) -> dict[str, Numbers]:
    """Return `measure` of each tensor of a file."""
    with _opened(Path(path)) as file:
        return {name: measure(_pieces(file, name)) for name in file.keys()}  # noqa: SIM118


def together(measured: Mapping[str, Numbers], names: Iterable[str]) -> Numbers:
    """Return the statistics of several tensors as if they were one."""
    return sum((measured[name] for name in names), Numbers())


def histogram(parts: Iterable[np.ndarray], numbers: Numbers) -> Histogram:
    """Return the histogram of arrays with the statistics `numbers`; it is centred on zero if there are both signs."""
    if not numbers.count:
        raise ValueError("There is no finite number to draw a histogram of.")
    low = max(numbers.smallest, numbers.mean - REACH_DEVIATIONS * numbers.deviation)
    high = min(numbers.largest, numbers.mean + REACH_DEVIATIONS * numbers.deviation)
    if numbers.smallest < 0 < numbers.largest:
        high = max(-low, high)
        low = -high
    if low >= high:  # all are the same
        low, high = numbers.mean - (abs(numbers.mean) or 1) / 2, numbers.mean + (abs(numbers.mean) or 1) / 2
    edges = np.linspace(low, high, HISTOGRAM_BINS + 1)
    counts, below, above = np.zeros(HISTOGRAM_BINS, np.int64), 0, 0
    for part in parts:
        finite = part[np.isfinite(part)].astype(np.float64)
        below += int((finite < low).sum())
        above += int((finite > high).sum())
        counts += np.histogram(np.clip(finite, low, high), edges)[0]
    return Histogram(edges, counts, below, above)


def _pieces(file: Any, name: str) -> Iterator[np.ndarray]:
    part = file.get_slice(name)
    shape = part.get_shape()
    if not shape:
        yield file.get_tensor(name).float().numpy().reshape(1)
        return
    rows = max(1, CHUNK_NUMBERS // max(1, math.prod(shape[1:])))
    for start in range(0, shape[0], rows):
        yield part[start : start + rows].float().numpy().ravel()


def _measured(part: np.ndarray) -> Numbers:
    with np.errstate(over="ignore"):
        squares = float(np.dot(part, part))  # finite only where all of them are, and fast
    finite = part
    if not math.isfinite(squares):
        finite = part[np.isfinite(part)].astype(np.float64)
        squares = float(np.dot(finite, finite))
    if not finite.size:
        return Numbers(broken=part.size)
    zeros = finite.size - np.count_nonzero(finite)
    total = float(finite.sum(dtype=np.float64))
    return Numbers(
        finite.size, total, squares, float(finite.min()), float(finite.max()), int(zeros), part.size - finite.size
    )


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        open_regular(path).close()  # refuses a pipe, for which the library would wait
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing.") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{path.name} is not a complete safetensors file ({str(error)[:100]}); copy it again."
        ) from None
