"""A run's folder: where everything about one training lies, readable while it goes on and after.

config.json     the recipe: data, network, training
status.json     what the worker is doing, and when it last said so (see health.py)
metrics.jsonl   one line an update, with the scores where it was evaluated
log.txt         what the worker said
checkpoints/    step-0001000 and so on: all that is needed to go on from there; `last` and `best` point to two of them
history/        small snapshots of the weights, where they were asked for
data/           the corpus as token ids, and the validation pairs
control         "pause" or "stop", while that is asked of the worker
lock            held by the worker, so that there is never a second one
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformer.files import open_regular, write_text
from transformer.quoting import quoted
from transformer.training.recipe import Recipe

RUNS = Path("runs")
TAIL = 64 * 1024  # bytes at the end of a log that are looked at


class RunFolder:
    """The paths of a run, and the few things that both its worker and those who watch it do with them."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config, self.status = self.path / "config.json", self.path / "status.json"
        self.metrics, self.log = self.path / "metrics.jsonl", self.path / "log.txt"
        self.checkpoints, self.history, self.data = (self.path / n for n in ("checkpoints", "history", "data"))
        self.control, self.start = self.path / "control", self.path / "start"

    @property
    def name(self) -> str:
        return self.path.name

    def recipe(self) -> Recipe:
        """Raises ValueError where there is no run in the folder."""
        if not self.config.is_file():
            raise ValueError(f"There is no run in {self.path}.")
        return Recipe.load(self.config)

    def steps(self) -> list[int]:
        """The updates at which there are checkpoints to go on from, the latest last."""
        found = (re.fullmatch(r"step-(\d+)", path.name) for path in self.checkpoints.glob("step-*"))
        return sorted(int(match[1]) for match in found if match)

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints / f"step-{step:07d}"

    @contextmanager
    def locked(self, patience: float = 0.0) -> Iterator[None]:
        """Alone with the folder; the lock ends with its process, however that ends.

        Raises ValueError where another process holds it for more than `patience` seconds.
        """
        until = time.monotonic() + patience
        with open(self.path / "lock", "ab") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise ValueError(
                            f"Another process is working in {self.path}; pause or stop that run first."
                        ) from None
                    time.sleep(0.05)
            yield

    def ask(self, what: str) -> None:
        write_text(self.control, what)

    def asked(self) -> str | None:
        """What the worker has been asked for and has not done yet: "pause", "stop" or None."""
        try:
            return self.control.read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def last_lines(self, count: int = 20) -> list[str]:
        """The end of the log."""
        try:
            with open_regular(self.log) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                return file.read().decode("utf-8", "replace").splitlines()[-count:]
        except (OSError, ValueError):  # there is none, or what stands there is no file
            return []


def run_path(name: str, root: str | Path = RUNS) -> Path:
    """The folder of the run called `name`. Raises ValueError for a name that is no plain one."""
    if not re.fullmatch(r"[\w][\w.-]{0,63}", name):
        raise ValueError(
            f"{quoted(name)} cannot be the name of a run; take up to 64 letters, digits, dots, dashes and underscores."
        )
    return Path(root) / name
