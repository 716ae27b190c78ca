"""Fuzz the files of a run: each damaged file gives one sentence, and the runs are still listed."""

import shutil
from functools import partial
from pathlib import Path

import pytest

from headlight.runs import Metrics, RunFolder, status, statuses
from headlight.runs import state as states
from tests.faults import in_one_sentence
from tests.fuzzing import fuzz_file
from tests.small_run import finished_run

pytestmark = pytest.mark.fuzz
ATTEMPTS = 30


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished_run(tmp_path_factory.mktemp("runs"), steps=14)


def described(run: RunFolder) -> bool:
    """Return whether recipe and metrics can be read, as the Training page and `runs` do; the status always can."""
    assert len(statuses(run.path.parent)) == 1
    assert in_one_sentence(partial(status, run.path))
    return all([in_one_sentence(ask) for ask in (run.recipe, Metrics(run.path).read)])


@pytest.mark.parametrize("name", ["config.json", "status.json", "metrics.jsonl"])
def test_damaged_files_of_a_run(run: RunFolder, tmp_path: Path, name: str) -> None:
    copy = RunFolder(tmp_path / "run")
    shutil.copytree(run.path, copy.path, symlinks=True)
    assert described(copy)
    # The recipe is in each checkpoint, too, and metrics are read as far as they go.
    assert fuzz_file(f"run {name}", ATTEMPTS, copy.path / name, lambda _: described(copy)) == 1


@pytest.mark.parametrize("name", ["config.json", "training.json", "model.safetensors", "optimizer.safetensors"])
def test_damaged_files_of_its_last_checkpoint(run: RunFolder, tmp_path: Path, name: str) -> None:
    step = tmp_path / "step"
    shutil.copytree(run.checkpoint(run.steps()[-1]), step)
    states.load(step)
    load = partial(states.load, step)
    assert fuzz_file(f"checkpoint {name}", ATTEMPTS, step / name, lambda _: in_one_sentence(load)) < 1
