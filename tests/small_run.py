"""A run of a tiny network on a hundred pairs, and workers that start in milliseconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from headlight.runs import Metrics, Recipe, RunFolder
from headlight.runs.steer import claim
from headlight.runs.worker import work
from tests.forked import forked
from transformer import ModelConfig, StackConfig, TrainConfig

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
STACK = StackConfig(1, 2, 16)
MODEL = ModelConfig(100, 100, 16, STACK, STACK, norm="pre", final_norm=True, max_length=16)
TRAINING = TrainConfig(
    steps=60,
    batch_tokens=64,
    learning_rate=0.01,
    warmup=10,
    precision="float32",
    evaluate_every=25,
    checkpoint_every=7,
)


def pairs_file(folder: Path) -> str:
    """A hundred pairs of words, and the same words the other way round."""
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{a} {b}\t{b} {a}\n" for a in NUMBERS for b in NUMBERS))
    return str(path)


def small_recipe(folder: Path, **training: Any) -> Recipe:
    data = pairs_file(folder)
    config = replace(TRAINING, **training)
    return Recipe(data, MODEL, config, tokenizer="words", vocabulary=100, watch=("one two",), threads=1)


def new_run(folder: Path, name: str = "run", recipe: Recipe | None = None, **training: Any) -> RunFolder:
    """Create a run on which no worker works yet."""
    return claim(recipe or small_recipe(folder, **training), folder / name)


def finished_run(folder: Path, name: str = "run", recipe: Recipe | None = None, **training: Any) -> RunFolder:
    run = new_run(folder, name, recipe, **training)
    assert work(run.path) == "finished"
    return run


def worker(run: RunFolder) -> BaseProcess:
    """Fork a worker for the run from a process that has already imported torch."""
    return forked(work, run.path)


def wait_until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def launch_here(run: RunFolder) -> int:
    """Launch no worker: the test itself calls `work`. Return the number of this process."""
    return os.getpid()


def launch_forked(run: RunFolder) -> int:
    """Launch a forked worker with a log, as a launcher does with one of its own; return its process id."""
    run.log.touch()
    return worker(run).pid or 0


def trained_tensors(run: RunFolder, step: int) -> dict[str, torch.Tensor]:
    """Return all that training changed up to this step: the weights and the state of the optimizer."""
    files = ("model.safetensors", "optimizer.safetensors")
    return {f"{file} {name}": t for file in files for name, t in load_file(run.checkpoint(step) / file).items()}


def same_tensors(one: RunFolder, other: RunFolder, step: int) -> bool:
    a, b = trained_tensors(one, step), trained_tensors(other, step)
    return set(a) == set(b) and all(torch.equal(tensor, b[name]) for name, tensor in a.items())


def lines(run: RunFolder) -> list[dict[str, Any]]:
    """Return the metrics without the seconds of each update."""
    return [{name: value for name, value in line.items() if name != "seconds"} for line in Metrics(run.path).read()]
