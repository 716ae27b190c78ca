"""The mean of the weights of a run's last checkpoints, as the paper takes it (section 6.1).

The weights of so many checkpoints are kept in the run's folder as they are written, without what a training needs
beside them; the export takes the mean.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import torch

from headlight.runs.folder import RunFolder
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import WEIGHTS, load_weights
from transformer.files import remove
from transformer.quoting import short


def keep(folder: RunFolder, step: int, count: int) -> None:
    """Keeps the weights of the checkpoint of `step`, as the last of at most `count`.

    Those of later steps were lost with their checkpoints, and the run has gone back before them.
    """
    folder.weights.mkdir(exist_ok=True)
    name = folder.weights / f"{folder.checkpoint(step).name}.safetensors"
    part = name.with_suffix(".part")
    remove(part)
    written = folder.checkpoint(step) / WEIGHTS
    try:
        os.link(written, part)  # no room is taken while the checkpoint itself is there
    except OSError:  # not every file system has hard links
        shutil.copyfile(written, part)
    os.replace(part, name)
    weights = _kept(folder)
    for old in {*weights} - {*[kept for kept in weights if kept <= step][-count:]}:
        weights[old].unlink()


def enough(folder: RunFolder) -> bool:
    """Whether there are weights to take a mean of: an early run has kept fewer than two."""
    return len(_kept(folder)) > 1


def averaged(folder: RunFolder, like: Checkpoint, count: int) -> Checkpoint:
    """`like` with the mean of the last `count` kept weights; its card says of which steps, "averaged".

    Raises ValueError where fewer than two are kept.
    """
    weights = _kept(folder)
    steps = sorted(weights)[-count:]
    if len(steps) < 2:
        raise ValueError(
            f"{short(folder.path)} has kept the weights of {len(steps)} checkpoints, and a mean needs two or more; "
            "train it with --average N."
        )
    model = load_weights(like.model.config, weights[steps[0]])
    with torch.no_grad():
        for number, step in enumerate(steps[1:], 2):
            other = dict(load_weights(like.model.config, weights[step]).named_parameters())
            for name, parameter in model.named_parameters():
                parameter.lerp_(other[name], 1.0 / number)
    return replace(like, model=model, card={**like.card, "step": steps[-1], "averaged": steps})


def _kept(folder: RunFolder) -> dict[int, Path]:
    """The weights that are kept, by their steps, the first one first."""
    matches = (re.fullmatch(r"step-(\d+)", path.stem) for path in folder.weights.glob("step-*.safetensors"))
    steps = sorted(int(match[1]) for match in matches if match)
    return {step: folder.weights / f"{folder.checkpoint(step).name}.safetensors" for step in steps}
