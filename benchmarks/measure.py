"""Shared by the benchmarks: rounds in turns, summaries of them, and their texts."""

from __future__ import annotations

import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
# Described with the machine, as far as they are installed.
PACKAGES = ["torch", "transformers", "ctranslate2", "sacrebleu", "bertviz", "streamlit", "plotly", "playwright"]


def spread(values: Iterable[float]) -> dict[str, float]:
    """Return the median, the 95th percentile, the minimum and the maximum of some values, and their number."""
    numbers = list(values)
    return {
        "median": statistics.median(numbers),
        "p95": float(np.percentile(numbers, 95)),
        "least": min(numbers),
        "most": max(numbers),
        "count": len(numbers),
    }


K, V = TypeVar("K"), TypeVar("V")


def alternate(rounds: int, tasks: Mapping[K, Callable[[], V]]) -> dict[K, list[V]]:
    """Return each task's results by round, after a warm-up round; every other round runs the tasks backwards."""
    for task in tasks.values():
        task()
    results: dict[K, list[V]] = {name: [] for name in tasks}
    for turn in range(rounds):
        for name in list(tasks)[:: 1 if turn % 2 else -1]:
            results[name].append(tasks[name]())
    return results


def seconds(work: Callable[[], object]) -> Callable[[], float]:
    """Return the task that measures how long `work` takes."""

    def task() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return task


MIN_ROUNDS = 6  # with fewer rounds, even the minimum and maximum enclose the true median in less than 95 % of cases
RESAMPLES = 10_000
FASTER, LONGER = ("faster", "slower"), ("longer", "shorter")  # the words for a ratio above 1 and below 1


def ratios(
    numerators: Sequence[float], denominators: Sequence[float], words: tuple[str, str] = FASTER
) -> dict[str, Any]:
    """Return `numerators` divided by `denominators`, round by round: the spread, and whether the median differs from 1.

    "interval" is the 95 % interval of the median by a paired bootstrap: whole rounds are resampled, so a round that
    was slow for both contestants keeps its ratio. It is None with fewer than MIN_ROUNDS rounds. "verdict" is one of
    `words`, "within the noise" if the interval contains 1, or "too few rounds".
    """
    rounds = np.array(numerators) / np.array(denominators)
    summary: dict[str, Any] = {**spread(rounds.tolist()), "interval": None, "verdict": "too few rounds"}
    if len(rounds) < MIN_ROUNDS:
        return summary
    resamples = np.random.default_rng(0).choice(rounds, (RESAMPLES, len(rounds)))
    low, high = np.quantile(np.median(resamples, axis=1), (0.025, 0.975)).tolist()
    above, below = words
    return summary | {
        "interval": [low, high],
        "verdict": above if low > 1 else below if high < 1 else "within the noise",
    }


RATIO_HEADING = "median (least to most); 95 % interval"


def ratio_text(ratio: dict[str, Any]) -> str:
    """Format the result of `ratios`: "1.15 (1.02 to 1.30); faster, 1.08 to 1.21"."""
    text = f"{_times(ratio['median'])} ({_times(ratio['least'])} to {_times(ratio['most'])}); {ratio['verdict']}"
    return text + (", {} to {}".format(*map(_times, ratio["interval"])) if ratio["interval"] else "")


def _times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else short(value)


def aim_text(ratio: dict[str, Any], aim: float | None, at_most: bool = False) -> str:
    """Return whether a result of `ratios` reaches its aim, or the noise leaves that open; "" without an aim."""
    if aim is None:
        return ""
    unsure = ratio["interval"] and ratio["interval"][0] <= aim <= ratio["interval"][1]
    return f"{reached_text(ratio['median'], aim, at_most)}{', within the noise' if unsure else ''}"


def reached_text(value: float, aim: float | None, at_most: bool = True, unit: str = "") -> str:
    """Return whether a value is at most, or at least, its aim: "200 ms: reached"; "" without an aim."""
    if aim is None:
        return ""
    return f"{short(aim)}{unit}: {'reached' if (value <= aim if at_most else value >= aim) else 'missed'}"


def peak_megabytes() -> float:
    """Return the peak memory of this process since its program began (Linux).

    `ru_maxrss` would not do: a child process inherits its parent's, since it also counts the time before exec.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return kilobytes * 1024 / 1e6


def machine() -> dict[str, Any]:
    """Describe the machine of the measurement, and its versions of PACKAGES."""
    cpuinfo = Path("/proc/cpuinfo")
    model_name = re.search(r"^model name\s*: (.*)", cpuinfo.read_text() if cpuinfo.exists() else "", re.M)
    versions = {}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    processor = model_name[1] if model_name else platform.machine()
    return {"processor": processor, "cores": os.cpu_count(), "python": platform.python_version(), **versions}


def short(value: float) -> str:
    """Format a number with three digits: "0.123", "45.6", "7,890"."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def range_text(stats: Mapping[str, float]) -> str:
    """Format the result of `spread`: "0.123 (0.1 to 0.2)"."""
    return f"{short(stats['median'])} ({short(stats['least'])} to {short(stats['most'])})"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
