"""A run's folder: everything about one training, readable while it goes on and after.

config.json     the recipe: data, network, training
status.json     what the worker is doing, and when it last reported (see run_status.py)
metrics.jsonl   one line per step, with the scores where it was evaluated
log.txt         the worker's log
checkpoints/    step-0001000 and so on: all that resuming needs; `last` and `best` point to two of them.
                Damaged ones are set aside as step-0001000.damaged
weights/        the weights of the last checkpoints, where they are to be averaged
history/        small snapshots of the weights, where the recipe has any
data/           the corpus as token ids, and the validation pairs
notes.json      a note and tags, where somebody wrote any
control         "pause" or "stop", from the request until the worker has ended
lock            held by the worker, so that there is never a second worker
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headlight.corpora.packed import FACTS_FILE, LENGTHS_FILE, TOKENS_FILE
from headlight.folders import CLONE, runs
from headlight.machine import lock, unlock
from headlight.runs import intact
from headlight.runs.intact import OPTIMIZER, POSITION, RECIPE
from headlight.runs.recipe import Recipe
from transformer.checkpoint.native import CONFIG, SHARED, SOURCE, TARGET, WEIGHTS
from transformer.files import open_regular, read_bytes, read_json, set_aside, write_json, write_text
from transformer.quoting import quoted, short

RUNS = Path("runs") if CLONE else runs()
VALIDATION_FILE = "validation.jsonl"
CORPUS_FILES = (FACTS_FILE, TOKENS_FILE, LENGTHS_FILE, VALIDATION_FILE)  # what a run must have in its data folder
LOG_TAIL_LINES, LOG_TAIL_BYTES = 20, 64 * 1024  # lines of a log that are shown, and the part that is read for them


class RunFolder:
    """The paths of a run, with the operations that both its worker and its readers need."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config, self.status = self.path / "config.json", self.path / "status.json"
        self.metrics, self.log = self.path / "metrics.jsonl", self.path / "log.txt"
        self.checkpoints, self.history, self.data = (self.path / n for n in ("checkpoints", "history", "data"))
        self.weights = self.path / "weights"
        self.control, self.start = self.path / "control", self.path / "start"
        self.lock, self.reserve = self.path / "lock", self.path / "reserve"

    @property
    def name(self) -> str:
        return self.path.name

    def recipe(self) -> Recipe:
        """Read config.json, or the newest checkpoint's copy of it where that is damaged.

        Raises ValueError where there is no run in the folder, or neither can be read.
        """
        if not self.is_run():
            raise ValueError(f"There is no run in {short(self.path)}.")
        try:
            return Recipe.load(self.config)
        except ValueError as error:
            for step in reversed(self.steps()):
                with suppress(ValueError):
                    return Recipe.load(self.checkpoint(step) / RECIPE)
            best = self.best()
            other = (
                f", or start a new run: card.json there has the command, to which add --start {short(best)}"
                if best
                else ""
            )
            raise ValueError(f"{str(error).rstrip('.')}. Put that file back{other}.") from None

    def write_recipe(self, recipe: Recipe) -> None:
        """Write config.json, and set the old one aside if it cannot be read."""
        try:
            Recipe.load(self.config)
        except ValueError:
            if os.path.lexists(self.config):
                set_aside(self.config)
        write_json(self.config, recipe.to_dict())

    def is_run(self) -> bool:
        return os.path.isfile(self.config) or bool(self.step_folders())

    def step_folders(self) -> list[Path]:
        """Return all paths named as checkpoints, intact or not, the latest last."""
        folders = (path for path in self.checkpoints.glob("step-*") if re.fullmatch(r"step-\d+", path.name))
        return sorted(folders, key=lambda path: int(path.name[5:]))

    def steps(self) -> list[int]:
        """Return the steps of the checkpoints to resume from that are intact at a first look, the latest last."""
        numbers = (int(path.name[5:]) for path in self.step_folders() if not state_flaw(path))
        return [step for step in numbers if self.checkpoint(step).is_dir()]

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints / f"step-{step:07d}"

    def best(self) -> Path | None:
        """Return the best checkpoint whose model is intact at a first look, or None.

        That is `best`, else the checkpoint that the newest intact one names as the best, else the newest intact one.
        """
        intact_folders = [path for path in self.step_folders() if not model_flaw(path)]
        try:
            recorded_best = (
                [self.checkpoint(read_json(intact_folders[-1] / POSITION)["best"])] if intact_folders else []
            )
        except (ValueError, TypeError, KeyError):
            recorded_best = []
        likeliest = [self.checkpoints / "best", *recorded_best, *reversed(intact_folders)]
        return next((path for path in likeliest if not model_flaw(path)), None)

    def trained(self) -> Path | None:
        """Return `best()`, but None where that is the network before its first step."""
        best = self.best()
        return None if best is None or best.resolve() == self.checkpoint(0).resolve() else best

    def damaged(self) -> dict[str, str]:
        """Return what is wrong with checkpoints and links to them at a first look, by name, without a full stop."""
        flaws = {path.name: state_flaw(path) for path in self.step_folders()}
        if flaws:
            links = [self.checkpoints / name for name in ("last", "best")]
            if any(map(os.path.lexists, links)):  # else on a system without links (`state.tidy`)
                flaws |= {path.name: model_flaw(path) for path in links}
        return {name: wrong for name, wrong in flaws.items() if wrong}

    def wrong_kinds(self) -> dict[Path, str]:
        """Return the paths that should be files, or folders, and are not, each with what is wrong.

        Reading a pipe would block, and a folder cannot be overwritten.
        """
        files = [self.config, self.status, self.metrics, self.log, self.control, self.lock, self.reserve]
        files += [path for folder in (self.history, self.weights) for path in folder.glob("step-*.safetensors")]
        folders = [self.checkpoints, self.history, self.weights, self.data, self.start, self.path / "tensorboard"]
        wrong = {path: "is not a file" for path in files if os.path.lexists(path) and not os.path.isfile(path)}
        return wrong | {
            path: "is not a folder" for path in folders if os.path.lexists(path) and not os.path.isdir(path)
        }

    def set_aside_wrong_kinds(self) -> list[str]:
        """Set aside what `wrong_kinds` lists, and return a sentence for each."""
        return [
            f"{path.relative_to(self.path)} {wrong}; it is kept as {set_aside(path).name}."
            for path, wrong in self.wrong_kinds().items()
        ]

    @contextmanager
    def locked(self, patience: float = 0.0) -> Iterator[None]:
        """Hold the folder's lock; the system releases it when the process ends.

        Raises ValueError where another process holds it for more than `patience` seconds.
        """
        until = time.monotonic() + patience
        if self.lock in self.wrong_kinds():
            set_aside(self.lock)
        with open(self.lock, "ab") as file:
            while not lock(file):
                if time.monotonic() >= until:
                    raise ValueError(f"Another process is working in {short(self.path)}; pause or stop that run first.")
                time.sleep(0.05)
            try:
                yield
            finally:
                unlock(file)

    def is_free(self) -> bool:
        """Return whether no process holds the folder."""
        if not os.path.isfile(self.lock):
            return True
        try:
            with open_regular(self.lock) as file:
                if is_free := lock(file):
                    unlock(file)
        except (OSError, ValueError):
            return False
        return is_free

    def post_request(self, request: str) -> None:
        """Ask the worker to "pause" or to "stop"."""
        write_text(self.control, request)

    def request(self) -> str | None:
        """Return the request that the worker has not fulfilled yet: "pause", "stop" or None."""
        try:
            request = read_bytes(self.control, 100).strip()
        except (OSError, ValueError):  # there is no such file, or it is a folder
            return None
        return {b"pause": "pause", b"stop": "stop"}.get(request)

    def last_lines(self) -> list[str]:
        """Return the last LOG_TAIL_LINES lines of the log."""
        try:
            with open_regular(self.log) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
                return file.read().decode("utf-8", "replace").splitlines()[-LOG_TAIL_LINES:]
        except (OSError, ValueError):  # there is no such file, or it is a folder
            return []


def snapshots(history: Path) -> tuple[list[Path], int]:
    """Return the snapshots that are intact at a first look, the latest last, and how many others there are."""
    files = [path for path in history.glob("step-*.safetensors") if re.fullmatch(r"step-\d+", path.stem)]
    undamaged = [path for path in files if not intact.flaw(history, [path.name])]
    return sorted(undamaged, key=lambda path: int(path.stem[5:])), len(files) - len(undamaged)


def model_flaw(path: Path) -> str:
    """Return what is wrong with the model of a checkpoint at a first look, or ""."""
    shared = os.path.exists(path / SHARED) or not os.path.exists(path / SOURCE)
    return intact.flaw(path, (WEIGHTS, CONFIG, *((SHARED,) if shared else (SOURCE, TARGET))))


def state_flaw(path: Path) -> str:
    """Return why a training cannot resume from a checkpoint, at a first look, or ""."""
    return model_flaw(path) or intact.flaw(path, dict.fromkeys((OPTIMIZER, POSITION, *intact.recorded(path))))


def run_path(name: str, root: str | Path) -> Path:
    """Return the folder of the run called `name`. Raises ValueError where the name is not plain."""
    if not re.fullmatch(r"[\w][\w.-]{0,63}", name):
        raise ValueError(
            f"{quoted(name)} cannot be the name of a run; take up to 64 letters, digits, dots, dashes and underscores."
        )
    return Path(root) / name
