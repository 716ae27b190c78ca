"""The checkpoints of a run: a native model folder with the additional files that resuming needs.

optimizer.safetensors  Adam's state of each parameter, by the parameter's name
training.json          the step, the position in the corpus, the best step so far, the loss scale
recipe.json            the run's recipe, for when its config.json is damaged
files.json             the size and the checksum of each of the files (see intact.py)

With the recipe that is the whole state: the learning rate follows from the step, and so do the random numbers
(see `random_seed`). Nothing is pickled. A checkpoint is written beside the others, flushed to the disk, and renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_type_hints

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headlight import checkpoints
from headlight.runs import intact
from headlight.runs.folder import RunFolder, state_flaw
from headlight.runs.intact import OPTIMIZER, POSITION, RECIPE
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.safetensors_file import write_tensors
from transformer.files import read_json, remove, set_aside, write_json
from transformer.model import Transformer
from transformer.quoting import short
from transformer.training.loop import Trainer

ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")
CHECKPOINTS_KEPT = 2  # in addition to the best: one may be damaged
MAX_BATCHES_PER_STEP = 10_000


@dataclass(frozen=True)
class Position:
    """Where a run stands after `step` of its `steps` steps.

    `epoch` and `batch` are the position in the corpus; `best` is the step with the highest chrF so far, which is
    `score`; `waited` counts the evaluations since then. `seconds` were spent on the steps.
    """

    step: int = 0
    steps: int = 0
    epoch: int = 0
    batch: int = 0
    best: int = 0
    score: float = -1.0
    waited: int = 0
    seconds: float = 0.0
    scaler: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Position:
        """Read a training.json; unknown fields are ignored. Raises ValueError naming what is wrong."""
        values = read_json(path)
        if not isinstance(values, dict):
            raise ValueError(f"{short(path)} does not say where a run stands.")
        hints = get_type_hints(cls)
        for name in (f.name for f in fields(cls)):
            if name not in values:
                raise ValueError(f"{short(path)} lacks {name}.")
            if not _has_type(values[name], hints[name]):
                raise ValueError(f"{short(path)} has {name} {values[name]!r:.40}, which it cannot be.")
        return cls(**{name: values[name] for name in hints})


def _has_type(value: object, kind: Any) -> bool:
    if kind is int:
        return type(value) is int and value >= 0
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, dict) and all(_has_type(entry, float) for entry in value.values())


def optimizer_tensors(trainer: Trainer) -> dict[str, Tensor]:
    """Gather Adam's state by name on the CPU. Every process must call this."""
    tensors = {}
    for name, parameter in trainer.model.named_parameters():
        for part, value in trainer.optimizer.state.get(parameter, {}).items():
            tensors[f"{name}.{part}"] = trainer.processes.whole(value).cpu().contiguous()
    return tensors


def save(folder: RunFolder, checkpoint: Checkpoint, optimizer: dict[str, Tensor], position: Position) -> None:
    """Write the checkpoint of `position`, link to it, and remove old ones (see `tidy`)."""
    part, final = folder.checkpoints / "new.part", folder.checkpoint(position.step)
    remove(part)
    try:
        checkpoints.save(replace(checkpoint, card={**checkpoint.card, "step": position.step}), part)
        write_tensors(optimizer, part / OPTIMIZER)
        write_json(part / POSITION, asdict(position))
        with contextlib.suppress(ValueError):  # a recipe that cannot be read any more is no reason to stop
            write_json(part / RECIPE, folder.recipe().to_dict())
        intact.record(part)
        for path in [*part.iterdir(), part, folder.metrics]:
            _flush(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)  # an incomplete checkpoint only takes up space
        raise
    os.rename(part, final)
    _flush(folder.checkpoints)
    tidy(folder, position)


def tidy(folder: RunFolder, position: Position) -> None:
    """Repair the links `last` and `best`, and remove intact checkpoints but the last two and the best."""
    folder.checkpoints.mkdir(exist_ok=True)
    _point(folder.checkpoints / "last", folder.checkpoint(position.step))
    _point(folder.checkpoints / "best", folder.checkpoint(position.best))
    steps = folder.steps()
    for step in {*steps} - {*steps[-CHECKPOINTS_KEPT:], position.step, position.best}:
        path = folder.checkpoint(step)
        with contextlib.suppress(PermissionError):  # on Windows while a file is open; the next save tries again
            os.rename(path, path.with_suffix(".part"))  # a rename is atomic, so nobody sees half a checkpoint
    for part in folder.checkpoints.glob("*.part"):
        with contextlib.suppress(OSError):
            remove(part)  # unlike shutil.rmtree, it does not block on a pipe


def _point(pointer: Path, target: Path) -> None:
    part = pointer.with_suffix(".part")
    remove(part)
    try:
        part.symlink_to(target.name, target_is_directory=True)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EINVAL):  # without links `RunFolder.best` reads training.json
            return
        raise
    if pointer.is_dir() and not pointer.is_symlink():  # a copy that followed links made it a folder
        set_aside(pointer)
    if not hasattr(os, "O_NONBLOCK"):  # Windows does not replace links to folders
        pointer.unlink(missing_ok=True)
    os.replace(part, pointer)


def check(path: Path) -> None:
    """Read every byte of a checkpoint. Raises ValueError where it is damaged."""
    if wrong := state_flaw(path) or intact.changed_file(path):
        raise ValueError(f"{wrong}.")
    if intact.recorded(path):
        return
    checkpoint, optimizer, position = load(path)  # older checkpoints have no checksums
    adam(checkpoint.model, optimizer)
    if not all(p.isfinite().all() for p in checkpoint.model.parameters()):
        raise ValueError("model.safetensors has weights that are not numbers.")
    if f"step-{position.step:07d}" != path.name:
        raise ValueError(f"{POSITION} says that it is of another step.")
    batches = MAX_BATCHES_PER_STEP * position.step
    if max(position.epoch, position.batch) > batches or max(position.best, position.waited) > position.step:
        raise ValueError(f"{POSITION} has a number that {position.step:,} steps cannot lead to.")
    try:
        if position.scaler:
            torch.amp.GradScaler("cpu").load_state_dict(position.scaler)
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"{POSITION} has no scale of the loss: {error}.") from None


def load(path: Path) -> tuple[Checkpoint, dict[str, Tensor], Position]:
    """Read what `save` wrote. Raises ValueError naming the file that is missing or wrong."""
    position = Position.read(path / POSITION)
    checkpoint = checkpoints.load(path)
    try:
        with safe_open(path / OPTIMIZER, framework="pt") as file:
            optimizer = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{short(path / OPTIMIZER)} is missing.") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"{short(path / OPTIMIZER)} is not a complete safetensors file ({str(error)[:100]})."
        ) from None
    return checkpoint, optimizer, position


def _flush(path: Path) -> None:
    """Flush a file to the disk: a rename can survive a power cut that the bytes before it did not."""
    if not hasattr(os, "O_NONBLOCK"):  # Windows opens no folders, and flushes only files open for writing
        if path.is_dir():
            return
        flags = os.O_RDWR
    else:
        flags = os.O_RDONLY | os.O_NONBLOCK  # opening a pipe must not block; it is refused below
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def adam(model: Transformer, optimizer: dict[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """Return Adam's state of each parameter from what `optimizer_tensors` gathered; empty before the first step.

    Raises ValueError where the state is that of another network.
    """
    moments: dict[str, dict[str, Tensor]] = {}
    for name, parameter in model.named_parameters() if optimizer else ():
        tensors = {part: optimizer.get(f"{name}.{part}") for part in ADAM_STATE}
        for part, value in tensors.items():
            if value is None or value.shape not in (parameter.shape, ()) or not value.is_floating_point():
                raise ValueError(f"{OPTIMIZER} has no {part} for {name}; it belongs to another network.")
        moments[name] = {part: value for part, value in tensors.items() if value is not None}
    return moments


def restore(trainer: Trainer, optimizer: dict[str, Tensor], position: Position) -> None:
    """Set the trainer to `position`. Raises ValueError where the state is of another network."""
    trainer.step = position.step
    if position.scaler:
        trainer.scaler.load_state_dict(position.scaler)
    parameters = dict(trainer.model.named_parameters())
    for name, moments in adam(trainer.model, optimizer).items():
        parameter = parameters[name]
        trainer.optimizer.state[parameter] = {
            part: trainer.processes.like(value, parameter) if value.shape else value.to(parameter.device)
            for part, value in moments.items()
        }
