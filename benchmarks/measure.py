"""Shared by the benchmarks: rounds in turns, summaries of them, and the files of results."""

from __future__ import annotations

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from xml.sax.saxutils import escape

import numpy as np

from benchmarks.busy import busy_text
from transformer.files import write_json, write_text

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results"
HEADLIGHT_COLOUR, ALTERNATIVE_COLOUR, TARGET_COLOUR = "#2f5fa8", "#98a2b3", "#d55e00"


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


K = TypeVar("K")


def alternate(rounds: int, tasks: Mapping[K, Callable[[], float]]) -> dict[K, list[float]]:
    """Return each task's measurements by round, after a warm-up round; every other round runs the tasks backwards."""
    for task in tasks.values():
        task()
    times: dict[K, list[float]] = {name: [] for name in tasks}
    for turn in range(rounds):
        for name in list(tasks)[:: 1 if turn % 2 else -1]:
            times[name].append(tasks[name]())
    return times


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
    reached = ratio["median"] <= aim if at_most else ratio["median"] >= aim
    unsure = ratio["interval"] and ratio["interval"][0] <= aim <= ratio["interval"][1]
    return f"{aim:.3g}: {'reached' if reached else 'missed'}{', within the noise' if unsure else ''}"


def peak_megabytes() -> float:
    """Return the peak memory of this process since its program began (Linux).

    `ru_maxrss` would not do: a child process inherits its parent's, since it also counts the time before exec.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return kilobytes * 1024 / 1e6


def machine(*packages: str) -> dict[str, Any]:
    """Describe the machine of the measurement."""
    names = [line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


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


@dataclass(frozen=True)
class Dot:
    """A measured value with the text beside it; `target` is drawn as a bar."""

    label: str
    value: float
    text: str
    colour: str
    target: float | None = None


def stat_dot(
    label: str,
    stats: Mapping[str, float],
    unit: str = "",
    *,
    ours: bool = True,
    target: float | None = None,
    statistic: str = "median",
) -> Dot:
    """Return the dot of a statistic of `spread`; the alternatives to Headlight are not `ours`."""
    value = stats[statistic]
    return Dot(label, value, f"{short(value)}{unit}", HEADLIGHT_COLOUR if ours else ALTERNATIVE_COLOUR, target)


def megabytes_dot(label: str, megabytes: float, target: float | None = None) -> Dot:
    return Dot(label, megabytes, f"{megabytes:,.0f} MB", HEADLIGHT_COLOUR, target)


def keep(name: str, result: dict[str, Any], title: str, panels: Mapping[str, Sequence[Dot]]) -> None:
    """Write results/NAME.json and results/NAME.svg, and state how busy the machine was."""
    keep_drawn(name, result, picture(title, panels))


def keep_drawn(name: str, result: dict[str, Any], drawing: str) -> None:
    """Write the results as `keep` does, with an SVG that the benchmark drew itself."""
    RESULTS.mkdir(exist_ok=True)
    write_json(RESULTS / f"{name}.json", result)
    write_text(RESULTS / f"{name}.svg", drawing)
    print(f"\n{busy_text(result['busy'])}")
    print(f"Written: {RESULTS / name}.json and .svg")


def picture(title: str, panels: Mapping[str, Sequence[Dot]]) -> str:
    """Draw an SVG of panels, each with dots on a logarithmic axis of its own; the key of a panel is its title."""
    parts, y = [svg_text(16, 28, title, size=17, weight=650)], 62
    parts.append(svg_text(16, 52, "Each grid line is ten times the one to its left."))
    for name, dots in panels.items():
        parts.append(svg_text(16, y + 28, name, weight=600))
        y += 44
        edges = [edge for dot in dots for edge in (dot.value, dot.target) if edge]
        low, high = math.floor(math.log10(min(edges))), math.ceil(math.log10(max(edges)))

        def x(value: float, low: int = low, high: int = high) -> float:
            return 250 + 400 * (math.log10(value) - low) / max(high - low, 1)

        for power in range(low, high + 1):
            parts.append(svg_line(x(10**power), y - 4, x(10**power), y + 22 * len(dots), "#e6e9ee"))
        for dot in dots:
            middle = y + 11
            parts.append(svg_text(238, middle + 5, dot.label, anchor="end"))
            if dot.target:
                parts.append(svg_line(x(dot.target), y + 2, x(dot.target), y + 20, TARGET_COLOUR, 2))
            parts.append(f'<circle cx="{x(dot.value):.1f}" cy="{middle}" r="5" fill="{dot.colour}"/>')
            parts.append(svg_text(670, middle + 5, dot.text))
            y += 22
        y += 6
    return svg(900, y + 16, parts)


def svg(width: float, height: float, parts: Sequence[str]) -> str:
    """Draw the picture on white."""
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>', ground, *parts, "</svg>", ""])


def svg_text(x: float, y: float, text: str, anchor: str = "start", size: int = 13, weight: int = 400) -> str:
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#1d2433"'
    return f'<text x="{x}" y="{y}" {style}>{escape(text)}</text>'


def svg_line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    style = f'stroke="{colour}" stroke-width="{width}"'
    return f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" {style}/>'
