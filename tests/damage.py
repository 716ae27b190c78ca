"""A run of twenty steps, a copy that paused at step 14, and ways to damage the files of a run."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight import checkpoints
from headlight.cli.verbs import main
from headlight.runs import Metrics, RunFolder, export, status, statuses, work
from headlight.runs.metrics import Journal
from tests.small_run import finished_run, new_run, same_tensors, small_recipe

PAUSED_STEP, LAST_STEP = 14, 20
RECIPE = {"steps": LAST_STEP, "evaluate_every": 10, "checkpoint_every": 6, "snapshots": 2}
Damage = Callable[[Path], None]


def finished_and_paused(folder: Path) -> None:
    """Two runs: "quiet", which finished undisturbed, and "paused", the same after step 14."""
    recipe = small_recipe(folder, **RECIPE)
    finished_run(folder, "quiet", recipe)
    paused, add = new_run(folder, "paused", recipe), Journal.add
    with pytest.MonkeyPatch.context() as patch:

        def added(journal: Journal, line: dict[str, Any]) -> None:
            add(journal, line)
            if line["step"] == PAUSED_STEP:
                paused.post_request("pause")

        patch.setattr(Journal, "add", added)
        assert work(paused.path) == "paused"
    assert {12, PAUSED_STEP} <= {*paused.steps()}


def repair_only(run: RunFolder) -> None:
    """Let a worker repair the folder and load the checkpoint, but make no step: it is asked to pause before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunFolder, "request", lambda run: "pause")
        assert work(run.path) == "paused"


def as_older_versions_wrote_it(run: RunFolder) -> None:
    """Remove the checksums and the copies of the recipe, which older versions did not write."""
    for path in [*run.path.rglob("files.json"), *run.path.rglob("recipe.json")]:
        path.unlink()


def assert_ends_as(run: RunFolder, quiet: RunFolder) -> None:
    assert same_tensors(run, quiet, LAST_STEP)
    assert (run.checkpoints / "last").resolve() == run.checkpoint(LAST_STEP).resolve()
    checkpoints.load(run.checkpoints / "best")


def look_at(run: RunFolder) -> None:
    """Check that everything that lists runs works with this one."""
    run_status = status(run.path)
    assert [one.name for one in statuses(run.path.parent)] == [run_status.name]
    assert main(["runs", str(run.path.parent)]) == 0
    for line in Metrics(run.path).read():
        assert line["step"] > 0
    best = run.best()
    assert best is None or best.is_dir()
    assert main(["describe", str(run.checkpoints / "last")]) in (0, 1)


def look_into(run: RunFolder) -> None:
    """Check besides that its models can be exported and described, or are refused with a ValueError."""
    look_at(run)
    out = run.path.parent / "shipped"
    with suppress(ValueError):
        assert checkpoints.load(out).card if export(run.path, out, score=False) else None
    shutil.rmtree(out, ignore_errors=True)
    assert main(["describe", str(run.checkpoints / "best")]) in (0, 1)


# ---- the ways in which a file can be damaged -----------------------------------------------------------------------


def missing(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path: Path) -> None:
    path.write_bytes(random.Random(0).randbytes(path.stat().st_size))


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def another_kind(path: Path) -> None:
    path.unlink()
    path.mkdir()


def mutated(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: mutated(one, leaf) for name, one in value.items()}
    return [mutated(one, leaf) for one in value] if isinstance(value, list) else leaf(value)


def wrong_types(path: Path) -> None:
    """Exchange the types of all values: text for numbers, numbers for text, and weights as whole numbers."""
    if path.suffix == ".safetensors":
        save_file({name: tensor.to(torch.int32) for name, tensor in load_file(path).items()}, path)
    else:
        values = json.loads(path.read_text())
        path.write_text(json.dumps(mutated(values, lambda leaf: 5 if isinstance(leaf, str) else "s")))


def wrong_shapes(path: Path) -> None:
    if path.suffix == ".safetensors":
        save_file({name: torch.stack([tensor, tensor]) for name, tensor in load_file(path).items()}, path)
    else:
        path.write_text(json.dumps([json.loads(path.read_text())]))


def huge(path: Path) -> None:
    """The largest numbers that can be written; weights that are none."""
    if path.suffix == ".safetensors":
        save_file({name: torch.full_like(tensor, torch.inf) for name, tensor in load_file(path).items()}, path)
    else:
        values = json.loads(path.read_text())
        path.write_text(json.dumps(mutated(values, lambda leaf: leaf if isinstance(leaf, str) else 10**400)))


DAMAGES = (missing, empty, cut, noise, another_kind, wrong_types, wrong_shapes, huge)
