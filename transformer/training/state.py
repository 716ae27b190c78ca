"""The checkpoints of a run: a model that opens anywhere, and beside it all that the training needs to go on.

optimizer.safetensors  Adam's state of each parameter, by the parameter's name
training.json          the update, the place in the corpus, the best so far, the loss scale

With the recipe that is the whole state: the learning rate follows from the update, and so do the random numbers
(see `random_seed`). Nothing is pickled. A checkpoint is written beside the others, flushed to the disk, and renamed.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from transformer import checkpoints
from transformer.checkpoints import Checkpoint
from transformer.files import read_json, write_json
from transformer.training.folder import RunFolder
from transformer.training.loop import Trainer

OPTIMIZER, POSITION = "optimizer.safetensors", "training.json"
ADAM = ("step", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True)
class Position:
    """Where a run stands after `step` updates of `steps`.

    `epoch` and `batch` are the place in the corpus; `best` is the update with the highest chrF so far, `score`;
    `waited` counts the evaluations since. `metrics` is the size of metrics.jsonl. `seconds` were spent updating.
    """

    step: int = 0
    steps: int = 0
    epoch: int = 0
    batch: int = 0
    best: int = 0
    score: float = -1.0
    waited: int = 0
    metrics: int = 0
    seconds: float = 0.0
    scaler: dict[str, Any] = field(default_factory=dict)


def optimizer_tensors(trainer: Trainer) -> dict[str, Tensor]:
    """Adam's state by name, whole, on the CPU. Every process must ask."""
    found = {}
    for name, parameter in trainer.model.named_parameters():
        for part, value in trainer.optimizer.state.get(parameter, {}).items():
            found[f"{name}.{part}"] = trainer.processes.whole(value).cpu().contiguous()
    return found


def save(folder: RunFolder, checkpoint: Checkpoint, optimizer: dict[str, Tensor], position: Position) -> None:
    """Writes the checkpoint of `position`, points to it, and removes those that are neither the last nor the best."""
    part, final = folder.checkpoints / "new.part", folder.checkpoint(position.step)
    shutil.rmtree(part, ignore_errors=True)
    try:
        checkpoints.save(replace(checkpoint, card={**checkpoint.card, "step": position.step}), part)
        save_file(optimizer, part / OPTIMIZER)
        write_json(part / POSITION, asdict(position))
        for path in [*part.iterdir(), part, folder.metrics]:
            _flush(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)  # what is half there only takes the room that the disk may lack
        raise
    os.rename(part, final)
    _flush(folder.checkpoints)
    tidy(folder, position)


def tidy(folder: RunFolder, position: Position) -> None:
    """`last` and `best` point where they should, and nothing else is there."""
    folder.checkpoints.mkdir(exist_ok=True)
    kept = {"last": folder.checkpoint(position.step).name, "best": folder.checkpoint(position.best).name}
    for name, target in kept.items():
        pointer = folder.checkpoints / f"{name}.part"
        pointer.unlink(missing_ok=True)
        pointer.symlink_to(target)
        os.replace(pointer, folder.checkpoints / name)
    for path in folder.checkpoints.iterdir():
        if path.name not in {*kept, *kept.values()}:
            shutil.rmtree(path, ignore_errors=True)


def load(path: Path) -> tuple[Checkpoint, dict[str, Tensor], Position]:
    """What `save` wrote. Raises ValueError naming the file that is missing or wrong."""
    values = read_json(path / POSITION)
    known = {f.name for f in fields(Position)}
    if not isinstance(values, dict) or set(values) != known:
        raise ValueError(f"{path / POSITION} does not say where a run stands.")
    checkpoint = checkpoints.load(path)
    try:
        with safe_open(path / OPTIMIZER, framework="pt") as file:
            optimizer = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise ValueError(f"{path / OPTIMIZER} is missing.") from None
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path / OPTIMIZER} is not a whole safetensors file ({str(error)[:100]}).") from None
    return checkpoint, optimizer, Position(**values)


def _flush(path: Path) -> None:
    """Until the disk has it: a rename may outlive a power cut that the bytes before it did not."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def restore(trainer: Trainer, optimizer: dict[str, Tensor], position: Position) -> None:
    """Puts the trainer where `position` is. Raises ValueError where the state is that of another network."""
    trainer.step = position.step
    if position.scaler:
        trainer.scaler.load_state_dict(position.scaler)
    if not optimizer:  # before the first update there is no state
        return
    for name, parameter in trainer.model.named_parameters():
        held: dict[str, Tensor] = {}
        for part in ADAM:
            value = optimizer.get(f"{name}.{part}")
            if value is None or value.shape not in (parameter.shape, ()):
                raise ValueError(f"{OPTIMIZER} has no {part} for {name}; it belongs to another network.")
            held[part] = trainer.processes.like(value, parameter) if value.shape else value.to(parameter.device)
        trainer.optimizer.state[parameter] = held
