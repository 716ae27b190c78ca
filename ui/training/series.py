"""A run's metrics as columns that grow with its file, and as few points of them as a picture can show.

Shapes: N steps, P points.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.runs import Metrics
from ui.state.cache import cached

MAX_CURVE_POINTS = 500
MAX_MEANS = 120  # points of a curve of means
_COLUMNS = ("step", "loss", "learning_rate", "gradient_norm", "tokens", "seconds", "teacher_forcing")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Columns with a number per step, [N]; NaN where it is not known. `evaluations` are the lines that have scores."""

    step: Floats
    loss: Floats
    learning_rate: Floats
    gradient_norm: Floats
    tokens: Floats
    seconds: Floats
    teacher_forcing: Floats
    evaluations: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.step)

    @property
    def recent_speed(self) -> float | None:
        """Return the target tokens per second over the latest steps."""
        if not len(self):
            return None
        tokens, seconds = self.tokens[-30:], self.seconds[-30:]
        return float(np.nansum(tokens) / max(np.nansum(seconds), 1e-9))


class Series:
    """Reads the new lines of a run's metrics; shared by all sessions that watch it."""

    def __init__(self, folder: str) -> None:
        self._metrics, self._lock = Metrics(folder), Lock()
        self._begin([])

    def _begin(self, lines: list[dict[str, Any]]) -> None:
        self._lines, self._count = lines, 0
        self._values = {name: array("d") for name in _COLUMNS}
        self._evaluations: list[dict[str, Any]] = []

    def read(self) -> Columns:
        """Return all metrics so far."""
        with self._lock:
            lines = self._metrics.read()
            # A resumed run removes the lines after its checkpoint.
            if lines is not self._lines or len(lines) < self._count:
                self._begin(lines)
            for line in lines[self._count :]:
                for name, values in self._values.items():
                    number = line.get(name)
                    values.append(math.nan if number is None else number)
                if "evaluation" in line:
                    self._evaluations.append({"step": line["step"], **line["evaluation"]})
            self._count = len(lines)
            return Columns(**{name: np.array(v) for name, v in self._values.items()}, evaluations=[*self._evaluations])


@cached(50, seconds=3600, turn=False)
def series(folder: str) -> Series:
    return Series(folder)


def scores(evaluations: list[dict[str, Any]], name: str) -> tuple[Floats, Floats]:
    """Return the steps and values of a score, where it was measured."""
    points = [(line["step"], line[name]) for line in evaluations if isinstance(line.get(name), int | float)]
    steps, values = zip(*points, strict=True) if points else ((), ())
    return np.array(steps, np.float64), np.array(values, np.float64)


def thinned(x: Floats, y: Floats, max_points: int = MAX_CURVE_POINTS) -> tuple[Floats, Floats]:
    """Return at most `max_points` of the points [P]: the lowest and highest of each interval, so no peak is lost."""
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    if len(x) <= max_points:
        return x, y
    edges = np.linspace(0, len(x), max_points // 2 + 1).astype(int)
    stretches = zip(edges[:-1], edges[1:], strict=True)
    indices = sorted({start + f(y[start:stop]) for start, stop in stretches for f in (np.argmin, np.argmax)})
    return x[indices], y[indices]


def smoothed(y: Floats, share: float) -> Floats:
    """Return the exponential moving average of the values [P], with the weight `share`, from 0 to below 1, on the past.

    It starts at the first value, not at 0: each mean is divided by the weight that it has so far (as Adam's are).
    Unknown values stay unknown and count for nothing.
    """
    mean, weight, smoothed_values = 0.0, 0.0, np.full_like(y, np.nan)
    for at, value in enumerate(y.tolist()):
        if math.isfinite(value):
            mean, weight = share * mean + (1 - share) * value, share * weight + (1 - share)
            smoothed_values[at] = mean / weight
    return smoothed_values


def speeds(columns: Columns) -> tuple[Floats, Floats]:
    """Return target tokens per second, a mean for each stretch of steps, since a batch of short sentences has fewer."""
    finite = np.isfinite(columns.tokens) & np.isfinite(columns.seconds)
    step, tokens, seconds = columns.step[finite], columns.tokens[finite], columns.seconds[finite]
    if not len(step):
        return step, step
    edges = np.unique(np.linspace(0, len(step), min(MAX_MEANS, max(1, len(step) // 10)) + 1).astype(int))
    total, spent = np.add.reduceat(tokens, edges[:-1]), np.add.reduceat(seconds, edges[:-1])
    return step[edges[1:] - 1], total / np.maximum(spent, 1e-9)
