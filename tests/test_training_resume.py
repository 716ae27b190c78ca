"""A run resumes after any end of its worker, with the same numbers as an uninterrupted run."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from headlight.runs import RunFolder, state, status, work
from headlight.runs.state import Position
from tests.small import small_checkpoint
from tests.small_run import TRAINING, finished_run, lines, new_run, same_tensors, small_recipe, wait_until, worker
from transformer.batches import collate
from transformer.training import Trainer

BATCH = collate([([5, 6, 3], [2, 7, 8, 3])])


def assert_same_run(one: RunFolder, other: RunFolder) -> None:
    assert lines(one) == lines(other) and same_tensors(one, other, one.recipe().training.steps)
    assert {path.name for path in one.checkpoints.iterdir()} == {path.name for path in other.checkpoints.iterdir()}
    for path in one.history.glob("*"):
        assert path.read_bytes() == (other.history / path.name).read_bytes()


@pytest.mark.slow
def test_five_kills_change_nothing(tmp_path: Path) -> None:
    """With accumulated batches, snapshots, scheduled sampling and dropout, so that there is much to lose."""
    recipe = small_recipe(tmp_path, steps=60, accumulate=2, snapshots=5, scheduled_sampling="parallel")
    quiet = finished_run(tmp_path, "quiet", recipe)
    killed, rng = new_run(tmp_path, "killed", recipe), random.Random(0)
    for number in range(5):
        process = worker(killed)
        if number:  # the first is killed while it prepares, or shortly after
            made = len(lines(killed)) + rng.randrange(1, 9)
            wait_until(lambda made=made: len(lines(killed)) > made)
        time.sleep(rng.uniform(0.0, 0.05))
        process.kill()
        process.join()
        assert status(killed.path).state == "crashed"
    assert work(killed.path) == "finished"
    assert_same_run(quiet, killed)


def test_the_scale_of_the_loss_is_part_of_the_state(tmp_path: Path) -> None:
    config = replace(TRAINING, precision="float16")
    checkpoint = small_checkpoint()
    one, other = Trainer(checkpoint.model, config), Trainer(checkpoint.model, config)
    one.update(iter([BATCH]))
    one.scaler.update(new_scale=1024.0)
    folder = RunFolder(tmp_path)
    folder.checkpoints.mkdir()
    folder.metrics.touch()
    position = Position(step=1, steps=60, scaler=one.scaler.state_dict())
    state.save(folder, checkpoint, state.optimizer_tensors(one), position)
    _, optimizer, loaded_position = state.load(folder.checkpoint(1))
    assert loaded_position == position
    state.restore(other, optimizer, loaded_position)
    assert other.step == 1 and other.scaler.get_scale() == 1024.0


def test_a_checkpoint_that_is_damaged_or_of_another_network_is_refused_by_name(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=3)
    path = run.checkpoint(3)
    _, optimizer, position = state.load(path)
    with pytest.raises(ValueError, match="belongs to another network"):
        state.restore(Trainer(small_checkpoint().model, TRAINING), optimizer, position)
    for name in ("training.json", "optimizer.safetensors", "model.safetensors"):
        content = (path / name).read_bytes()
        (path / name).write_bytes(content[: len(content) // 2])
        with pytest.raises(ValueError, match=name):
            state.load(path)
        (path / name).unlink()
        with pytest.raises(ValueError, match=f"{name} is missing"):
            state.load(path)
        (path / name).write_bytes(content)
    assert work(run.path) == "finished"


def test_nothing_that_was_half_written_is_taken_for_a_checkpoint(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=3)
    (run.checkpoints / "new.part").mkdir()
    (run.checkpoints / "step-0000099.part").mkdir()
    assert run.steps() == [0, 3]
    assert work(run.path) == "finished"
    assert sorted(path.name for path in run.checkpoints.iterdir()) == ["best", "last", "step-0000000", "step-0000003"]
