"""Memory of a training's worker over thousands of steps, on sentences of very different lengths.

One worker, the one that the app starts, trains the small network; at intervals the operating system is asked how much
of it is in memory. With varying lengths every batch has a different shape, so freed memory is fragmented, and the
kernels compiled for each shape are cached. `--run` looks on at a run that goes on anyway, and leaves it running.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.busy import Busy
from benchmarks.during_training import started
from benchmarks.measure import keep, machine, megabytes_dot, table
from headlight.runs import Metrics, Recipe, RunFolder, status
from headlight.runs.steer import kill
from transformer import TrainConfig, preset

MAX_MEGABYTES = 1_500.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", default="tatoeba:en-fr + multi30k:en-fr*2", help="what it is trained on")
    parser.add_argument("--steps", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=100, help="steps between two samples")
    parser.add_argument("--run", dest="folder", type=Path, help="a run that is being trained, to look on at")
    parser.set_defaults(run=run)


def run(data: str, steps: int, every: int, folder: Path | None) -> None:
    """Measure, print and write everything. Raises ValueError where the worker does not train."""
    busy = Busy()
    if folder:
        worker = RunFolder(folder)
        data, samples = worker.recipe().data, watched(worker, steps, every)
    else:
        samples = trained(data, steps, every)
    result = {"machine": machine("torch"), "data": data, "busy": busy.shares_since_begin(), **growth(samples)}
    shown_samples = samples[:: max(1, len(samples) // 10)]
    print(
        table(("step", "MB", "tokens/s"), [(f"{n:,}", f"{mb:,.0f}", f"{speed:,.0f}") for n, mb, speed in shown_samples])
    )
    reached = "reached" if result["most_megabytes"] <= MAX_MEGABYTES else "missed"
    print(f"at most {result['most_megabytes']:,.0f} MB ({MAX_MEGABYTES:,.0f}: {reached}), in the second half "
          f"{result['megabytes_per_1000_steps']:+.0f} MB in 1,000 steps")  # fmt: skip
    dots = [megabytes_dot(f"step {n:,}", mb) for n, mb, _ in shown_samples]
    keep("worker", result, "Memory of a worker", {"In memory, MB": dots})


def trained(data: str, steps: int, every: int) -> list[tuple[int, float, float]]:
    """Start a run of the small network and return what `watched` measures of it."""
    never = 100 * steps
    training = TrainConfig(steps=never, batch_tokens=3072, evaluate_every=never, checkpoint_every=never)
    recipe = Recipe(data, preset("small", 8000, 8000, tied="all"), training)
    with tempfile.TemporaryDirectory() as name:
        worker = started(Path(name) / "run", recipe)
        try:
            return watched(worker, steps, every)
        finally:
            kill(worker.path)


def watched(run: RunFolder, steps: int, every: int) -> list[tuple[int, float, float]]:
    """Return (step, MB in memory, target tokens per second since the last sample), `every` so many of `steps` steps."""
    process, metrics = psutil.Process(status(run.path).pid), Metrics(run.path)
    samples: list[tuple[int, float, float]] = []
    n_lines = first = len(metrics.read())
    while n_lines < first + steps:
        time.sleep(1.0)
        lines = metrics.read()
        if not status(run.path).alive:
            raise ValueError(f"The worker has ended at step {len(lines):,}.")
        if len(lines) >= n_lines + every:
            new, n_lines = lines[n_lines:], len(lines)
            speed = sum(line["tokens"] for line in new) / sum(line["seconds"] for line in new)
            samples.append((n_lines, process.memory_info().rss / 1e6, speed))
    return samples


def growth(samples: list[tuple[int, float, float]]) -> dict[str, Any]:
    """Return the peak memory, and how memory grew over the second half of the steps (least squares)."""
    second_half = samples[len(samples) // 2 :]
    growth = (
        np.polyfit([n for n, _, _ in second_half], [mb for _, mb, _ in second_half], 1)[0]
        if len(second_half) > 1
        else 0.0
    )
    return {
        "looks": samples,
        "most_megabytes": max(mb for _, mb, _ in samples),
        "megabytes_per_1000_steps": round(1000 * float(growth), 1),
    }
