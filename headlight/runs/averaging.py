"""Checkpoint averaging: the mean of the weights of a run's last checkpoints (section 6.1 of the paper).

A training saves the weights of its last checkpoints in weights/; the export computes the mean.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from headlight.runs.folder import RunFolder
from transformer.checkpoint import Checkpoint
from transformer.checkpoint.native import WEIGHTS, load_weights
from transformer.files import remove
from transformer.quoting import short


def save(folder: RunFolder, step: int, count: int) -> None:
    """Save the weights of the checkpoint of `step`, and remove all but the last `count` up to that step.

    Weights of later steps are removed as well: the run went back to an earlier checkpoint.
    """
    folder.weights.mkdir(exist_ok=True)
    name = folder.weights / f"{folder.checkpoint(step).name}.safetensors"
    part = name.with_suffix(".part")
    remove(part)
    checkpoint_weights = folder.checkpoint(step) / WEIGHTS
    try:
        os.link(checkpoint_weights, part)  # a link takes no disk space while the checkpoint exists
    except OSError:  # not every file system has hard links
        shutil.copyfile(checkpoint_weights, part)
    os.replace(part, name)
    weights = _saved(folder)
    for old in {*weights} - {*[saved for saved in weights if saved <= step][-count:]}:
        weights[old].unlink()


def can_average(folder: RunFolder) -> bool:
    """Return whether a run has saved the weights of two checkpoints or more."""
    return len(_saved(folder)) > 1


def average(folder: RunFolder, like: Checkpoint, count: int) -> Checkpoint:
    """Return `like` with the mean of the last `count` saved weights; "averaged" in its card lists their steps.

    Raises ValueError where fewer than two are saved.
    """
    weights = _saved(folder)
    steps = sorted(weights)[-count:]
    if len(steps) < 2:
        raise ValueError(
            f"{short(folder.path)} has kept the weights of {len(steps)} checkpoints, and a mean needs two or more; "
            "train it with --average N."
        )
    models = (load_weights(like.model.config, weights[step]) for step in steps)
    model = next(models)
    average_into(model, models)
    return replace(like, model=model, card={**like.card, "step": steps[-1], "averaged": steps})


def average_into(model: nn.Module, other_models: Iterable[nn.Module]) -> None:
    """Set the parameters of `model` to the mean of its own and those of `other_models`, read one model at a time."""
    with torch.no_grad():
        for number, other in enumerate(other_models, 2):
            weights = dict(other.named_parameters())
            for name, parameter in model.named_parameters():
                parameter.lerp_(weights[name].to(parameter.dtype), 1.0 / number)


def _saved(folder: RunFolder) -> dict[int, Path]:
    """Return the files of the saved weights by step, in the order of the steps."""
    matches = (re.fullmatch(r"step-(\d+)", path.stem) for path in folder.weights.glob("step-*.safetensors"))
    steps = sorted(int(match[1]) for match in matches if match)
    return {step: folder.weights / f"{folder.checkpoint(step).name}.safetensors" for step in steps}
