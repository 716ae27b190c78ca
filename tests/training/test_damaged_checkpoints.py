"""A run with a damaged checkpoint ends with the same weights, or a message says how to proceed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headlight.runs import RunFolder, extend, resume, status, work
from headlight.runs.steer import claim
from tests.damage import (
    DAMAGES,
    LAST_STEP,
    PAUSED_STEP,
    Damage,
    another_kind,
    as_older_versions_wrote_it,
    assert_ends_as,
    cut,
    huge,
    look_at,
    look_into,
    missing,
    noise,
    repair_only,
    wrong_shapes,
)
from tests.small_run import launch_here, lines

pytestmark = pytest.mark.slow  # hundreds of damaged runs

STATE = ("model.safetensors", "optimizer.safetensors", "training.json", "config.json", "tokenizer.json")


# By its checksums a version of today finds all bytes alike that are not as they were written; an older one had none.
CASES = [(name, damage, True) for name in (*STATE, "card.json") for damage in DAMAGES]
CASES.remove(("optimizer.safetensors", huge, True))  # nothing tells a huge number from a right one
CASES += [(name, damage, False) for name in (*STATE, "card.json", "recipe.json", "files.json")
          for damage in (missing, cut, another_kind)]  # fmt: skip
CASES += [("files.json", damage, False) for damage in DAMAGES if damage not in (missing, cut, another_kind)]


@pytest.mark.parametrize(("name", "damage", "older"), CASES)
def test_a_damaged_checkpoint_costs_the_updates_since_the_one_before(
    run: RunFolder, quiet: RunFolder, name: str, damage: Damage, older: bool
) -> None:
    if older:
        as_older_versions_wrote_it(run)
    path = run.checkpoint(PAUSED_STEP) / name
    damage(path)
    left = path.read_bytes() if path.is_file() else None
    look_at(run)
    if name not in STATE if older else name == "files.json":  # it goes on from what is damaged
        assert work(run.path) == "finished"
        assert_ends_as(run, quiet)
        assert [line["step"] for line in lines(run)] == list(range(1, LAST_STEP + 1))
        assert not status(run.path).damaged
        look_at(run)
        return
    repair_only(run)
    run_status = status(run.path)
    repairs = " ".join(run_status.repairs)
    assert "step-0000014 is damaged" in repairs and "goes on from step 12" in repairs and name in repairs
    assert all(text in run.log.read_text() for text in run_status.repairs)
    aside = run.checkpoints / f"{run.checkpoint(PAUSED_STEP).name}.damaged"
    assert left is None or (aside / name).read_bytes() == left
    assert run.steps()[-1] == 12 and not run_status.damaged


@pytest.mark.parametrize("name", STATE)
def test_the_updates_that_are_made_again_are_the_same(run: RunFolder, quiet: RunFolder, name: str) -> None:
    noise(run.checkpoint(PAUSED_STEP) / name)
    look_into(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
    assert [line["step"] for line in lines(run)] == list(range(1, LAST_STEP + 1))
    look_into(run)


def test_an_empty_folder_with_a_huge_number_is_no_checkpoint(run: RunFolder, quiet: RunFolder) -> None:
    (run.checkpoints / "step-9999999").mkdir()
    (run.checkpoints / f"step-{'9' * 40}").write_text("")
    (run.checkpoints / "step-15").mkdir()
    run_status = status(run.path)
    assert run_status.saved_step == PAUSED_STEP and "goes on from step 14" in run_status.advice
    assert any("step-9999999 in checkpoints/ is damaged" in text for text in run_status.damaged)
    look_into(run)
    extend(run.path, LAST_STEP, launcher=launch_here)  # was "has made 9,999,999 steps already"
    run.status.unlink()
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
    assert (run.checkpoints / "step-9999999.damaged").is_dir()


def test_without_a_whole_checkpoint_the_run_says_so_and_begins_again(run: RunFolder, quiet: RunFolder) -> None:
    for path in run.step_folders():
        cut(path / "optimizer.safetensors")
    look_into(run)
    with pytest.raises(ValueError, match="no intact checkpoint"):
        extend(run.path, 2 * LAST_STEP)
    assert work(run.path) == "crashed"
    run_status = status(run.path)
    assert "No checkpoint is intact" in run_status.cause and "Resume the run once more" in run_status.cause
    usable = run.checkpoints / next(word for word in run_status.cause.split() if word.startswith("step-"))
    assert claim(small_recipe_from(run, usable), run.path.parent / "other").start.is_dir()
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
    assert len(list(run.checkpoints.glob("*.damaged"))) == len(run_status.repairs)
    assert (run.path / "metrics.jsonl.damaged").exists()


def small_recipe_from(run: RunFolder, start: Path) -> Any:
    return replace(run.recipe(), start=str(start))


def test_a_run_does_not_start_from_a_damaged_checkpoint(run: RunFolder) -> None:
    cut(run.checkpoint(PAUSED_STEP) / "model.safetensors")
    with pytest.raises(ValueError, match="model.safetensors"):
        claim(small_recipe_from(run, run.checkpoint(PAUSED_STEP)), run.path.parent / "other")
    assert not (run.path.parent / "other").exists()
    assert claim(small_recipe_from(run, run.checkpoint(12)), run.path.parent / "other").start.is_dir()


@pytest.mark.parametrize("damage", [missing, cut, noise, wrong_shapes])
def test_a_finished_run_gets_its_end_back(quiet: RunFolder, tmp_path: Path, damage: Damage) -> None:
    shutil.copytree(quiet.path, tmp_path / "run", symlinks=True)
    run = RunFolder(tmp_path / "run")
    with pytest.raises(ValueError, match="has finished"):
        resume(run.path)
    damage(run.checkpoint(LAST_STEP) / "model.safetensors")
    assert "Resume it" in status(run.path).advice
    look_at(run)
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
    with pytest.raises(ValueError, match="has finished"):
        resume(run.path)
