"""Losses in a finished run are reported and recovered where possible; then the run is finished again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headlight.runs import RunFolder, extend, resume, status, work
from tests.damage import cut, missing, zeros
from tests.small_run import finished_run, launch_here, lines

STEPS = 12
Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("finished"), steps=STEPS, evaluate_every=6).path


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> RunFolder:
    shutil.copytree(finished, tmp_path / "run", symlinks=True)
    return RunFolder(tmp_path / "run")


@pytest.mark.parametrize("damage", [missing, cut])
def test_lost_metrics_are_reported_until_the_run_has_reported_what_cannot_be_recovered(
    run: RunFolder, damage: Damage
) -> None:
    assert not status(run.path).damaged
    damage(run.metrics)
    known = len(lines(run))
    run_status = status(run.path)
    message = f"metrics.jsonl lacks {STEPS - known} of the 12 steps"
    assert run_status.damaged == [f"{message}."] and "Resume it" in run_status.advice
    resume(run.path, launcher=launch_here)  # was "has finished at step 12; give it more steps to go on"
    assert work(run.path) == "finished"
    run_status = status(run.path)
    assert message in " ".join(run_status.repairs) and not run_status.damaged and len(lines(run)) == known
    with pytest.raises(ValueError, match="has finished at step 12"):
        resume(run.path, launcher=launch_here)


def test_what_is_lost_twice_is_reported_twice(run: RunFolder) -> None:
    cut(run.metrics)
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished"
    extend(run.path, 20, launcher=launch_here)
    assert work(run.path) == "finished" and not status(run.path).damaged
    known = len(lines(run))
    cut(run.metrics)
    assert f"lacks {20 - len(lines(run))} of the 20 steps" in status(run.path).damaged[0] and len(lines(run)) < known


def test_a_status_that_is_lost_loses_only_the_mark_that_the_gap_was_reported(run: RunFolder) -> None:
    cut(run.metrics)
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished"
    run.status.unlink()
    assert "metrics.jsonl lacks" in " ".join(status(run.path).damaged)
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished" and not status(run.path).damaged


@pytest.mark.parametrize("name", ["tokens.bin", "validation.jsonl", ""])
def test_a_corpus_that_is_gone_is_read_again(run: RunFolder, name: str) -> None:
    path = run.data / name
    path.unlink() if name else shutil.rmtree(path)
    assert f"The corpus in data/ is damaged: {name or 'data'} is missing." in status(run.path).damaged
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished"
    run_status = status(run.path)
    assert "It is read again from" in " ".join(run_status.repairs) and not run_status.damaged and path.exists()
    with pytest.raises(ValueError, match="has finished at step 12"):
        resume(run.path, launcher=launch_here)


def test_a_corpus_whose_bytes_are_others_is_found_when_the_run_is_resumed(run: RunFolder) -> None:
    zeros(run.data / "tokens.bin")
    resume(run.path, launcher=launch_here)
    assert work(run.path) == "finished"
    assert "tokens.bin is not as it was written" in " ".join(status(run.path).repairs)


def test_nothing_is_missed_where_nothing_was_kept(run: RunFolder) -> None:
    """Runs of older versions kept a model alone."""
    for path in run.step_folders():
        shutil.rmtree(path)
    run.metrics.unlink()
    shutil.rmtree(run.data)
    assert not status(run.path).damaged
