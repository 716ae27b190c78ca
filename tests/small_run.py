"""A run of a tiny network on a hundred pairs, and workers that start in milliseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

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
    """A run that nobody works on yet."""
    return claim(recipe or small_recipe(folder, **training), folder / name)


def finished_run(folder: Path, name: str = "run", recipe: Recipe | None = None, **training: Any) -> RunFolder:
    run = new_run(folder, name, recipe, **training)
    assert work(run.path) == "finished"
    return run


def worker(run: RunFolder) -> BaseProcess:
    """A worker for the run, forked from a process that has imported all it needs."""
    return forked(work, run.path)


def wait_until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)


def lines(run: RunFolder) -> list[dict[str, Any]]:
    """The metrics, less how long each update took."""
    return [{name: value for name, value in line.items() if name != "seconds"} for line in Metrics(run.path).read()]
