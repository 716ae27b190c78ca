"""A run's folder: where everything about one training lies, readable while it goes on and after.

config.json     the recipe: data, network, training
status.json     what the worker is doing, and when it last reported (see run_status.py)
metrics.jsonl   one line per step, with the scores where it was evaluated
log.txt         the worker's log
checkpoints/    step-0001000 and so on: all that is needed to go on from there; `last` and `best` point to two of them.
                What was found damaged is beside them, as step-0001000.damaged
weights/        the weights of the last checkpoints, where they are to be averaged
history/        small snapshots of the weights, where they were asked for
data/           the corpus as token ids, and the validation pairs
notes.json      a note and tags, where somebody wrote any
control         "pause" or "stop", while that is asked of the worker
lock            held by the worker, so that there is never a second one
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headlight.corpora.packed import FACTS, LENGTHS, TOKENS
from headlight.folders import CLONE, runs
from headlight.runs import intact
from headlight.runs.intact import OPTIMIZER, POSITION, RECIPE
from headlight.runs.recipe import Recipe
from transformer.checkpoint.native import CONFIG, SHARED, SOURCE, TARGET, WEIGHTS
from transformer.files import open_regular, read_bytes, read_json, set_aside, write_json, write_text
from transformer.quoting import quoted, short

RUNS = Path("runs") if CLONE else runs()
VALIDATION = "validation.jsonl"
CORPUS = (FACTS, TOKENS, LENGTHS, VALIDATION)  # what a run must have in its data folder
TAIL = 64 * 1024  # bytes at the end of a log that are looked at


class RunFolder:
    """The paths of a run, and the few things that both its worker and those who watch it do with them."""

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
        """What config.json says; where that is damaged, what the newest checkpoint has kept of it.

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

    def keep(self, recipe: Recipe) -> None:
        """Writes config.json; what is there and cannot be read is set aside."""
        try:
            Recipe.load(self.config)
        except ValueError:
            if os.path.lexists(self.config):
                set_aside(self.config)
        write_json(self.config, recipe.to_dict())

    def is_run(self) -> bool:
        return os.path.isfile(self.config) or bool(self.step_folders())

    def step_folders(self) -> list[Path]:
        """Everything with the name of a checkpoint, whole or not, the latest last."""
        folders = (path for path in self.checkpoints.glob("step-*") if re.fullmatch(r"step-\d+", path.name))
        return sorted(folders, key=lambda path: int(path.name[5:]))

    def steps(self) -> list[int]:
        """The steps at which there are checkpoints to go on from, as far as a first look tells, the latest last."""
        numbers = (int(path.name[5:]) for path in self.step_folders() if not state_flaw(path))
        return [step for step in numbers if self.checkpoint(step).is_dir()]

    def checkpoint(self, step: int) -> Path:
        return self.checkpoints / f"step-{step:07d}"

    def best(self) -> Path | None:
        """The checkpoint to open: that of `best` if its model is whole at a first look, else what comes nearest to it.

        That is the one that the newest checkpoint calls the best, else the newest whose model is whole.
        """
        whole = [path for path in self.step_folders() if not model_flaw(path)]
        try:
            named = [self.checkpoint(read_json(whole[-1] / POSITION)["best"])] if whole else []
        except (ValueError, TypeError, KeyError):
            named = []
        likeliest = [self.checkpoints / "best", *named, *reversed(whole)]
        return next((path for path in likeliest if not model_flaw(path)), None)

    def trained(self) -> Path | None:
        """As `best`, but None where nothing was scored yet: then that is the network before its first step."""
        best = self.best()
        return None if best is None or best.resolve() == self.checkpoint(0).resolve() else best

    def damaged(self) -> dict[str, str]:
        """What is wrong at a first look, without a full stop, by the name of the checkpoint or of what points to it."""
        flaws = {path.name: state_flaw(path) for path in self.step_folders()}
        if flaws:
            flaws |= {name: model_flaw(self.checkpoints / name) for name in ("last", "best")}
        return {name: wrong for name, wrong in flaws.items() if wrong}

    def of_another_kind(self) -> dict[Path, str]:
        """What stands under a name of the run's and is no file, or no folder, as it should be: what is wrong with it.

        A pipe would be waited for, and a folder cannot be written over.
        """
        files = [self.config, self.status, self.metrics, self.log, self.control, self.lock, self.reserve]
        files += [path for kept in (self.history, self.weights) for path in kept.glob("step-*.safetensors")]
        folders = [self.checkpoints, self.history, self.weights, self.data, self.start, self.path / "tensorboard"]
        wrong = {path: "is not a file" for path in files if os.path.lexists(path) and not os.path.isfile(path)}
        return wrong | {
            path: "is not a folder" for path in folders if os.path.lexists(path) and not os.path.isdir(path)
        }

    def clear(self) -> list[str]:
        """Sets aside what is `of_another_kind`, and says so."""
        return [
            f"{path.relative_to(self.path)} {wrong}; it is kept as {set_aside(path).name}."
            for path, wrong in self.of_another_kind().items()
        ]

    @contextmanager
    def locked(self, patience: float = 0.0) -> Iterator[None]:
        """Alone with the folder; the lock ends with its process, however that ends.

        Raises ValueError where another process holds it for more than `patience` seconds.
        """
        until = time.monotonic() + patience
        if self.lock in self.of_another_kind():
            set_aside(self.lock)
        with open(self.lock, "ab") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= until:
                        raise ValueError(
                            f"Another process is working in {short(self.path)}; pause or stop that run first."
                        ) from None
                    time.sleep(0.05)
            yield

    def is_free(self) -> bool:
        """Whether no process holds the folder."""
        if not os.path.isfile(self.lock):
            return True
        try:
            with open_regular(self.lock) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, ValueError):
            return False
        return True

    def ask(self, what: str) -> None:
        write_text(self.control, what)

    def asked(self) -> str | None:
        """What the worker has been asked for and has not done yet: "pause", "stop" or None."""
        try:
            asked = read_bytes(self.control, 100).strip()
        except (OSError, ValueError):  # there is none, or what stands there nobody asked
            return None
        return {b"pause": "pause", b"stop": "stop"}.get(asked)

    def last_lines(self, count: int = 20) -> list[str]:
        """The end of the log."""
        try:
            with open_regular(self.log) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
                return file.read().decode("utf-8", "replace").splitlines()[-count:]
        except (OSError, ValueError):  # there is none, or what stands there is no file
            return []


def snapshots(history: Path) -> tuple[list[Path], int]:
    """The snapshots in a folder that are whole at a first look, the latest last; and how many are not."""
    files = [path for path in history.glob("step-*.safetensors") if re.fullmatch(r"step-\d+", path.stem)]
    whole = [path for path in files if not intact.flaw(history, [path.name])]
    return sorted(whole, key=lambda path: int(path.stem[5:])), len(files) - len(whole)


def model_flaw(path: Path) -> str:
    """What keeps the model of a checkpoint from being opened, at a first look; "" where nothing does."""
    shared = os.path.exists(path / SHARED) or not os.path.exists(path / SOURCE)
    return intact.flaw(path, (WEIGHTS, CONFIG, *((SHARED,) if shared else (SOURCE, TARGET))))


def state_flaw(path: Path) -> str:
    """What keeps a training from going on from a checkpoint, at a first look; "" where nothing does."""
    return model_flaw(path) or intact.flaw(path, dict.fromkeys((OPTIMIZER, POSITION, *intact.recorded(path))))


def run_path(name: str, root: str | Path = RUNS) -> Path:
    """The folder of the run called `name`. Raises ValueError for a name that is no plain one."""
    if not re.fullmatch(r"[\w][\w.-]{0,63}", name):
        raise ValueError(
            f"{quoted(name)} cannot be the name of a run; take up to 64 letters, digits, dots, dashes and underscores."
        )
    return Path(root) / name
