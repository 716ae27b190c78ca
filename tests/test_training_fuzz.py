"""Fuzz the files of a run: each damaged file gives one sentence, and the runs are still listed."""

import random
import shutil
from functools import partial
from pathlib import Path

import pytest

from headlight.runs import Metrics, RunFolder, status, statuses
from headlight.runs import state as states
from tests.faults import in_one_sentence, mutated
from tests.fuzzing import fuzz
from tests.small_run import finished_run

pytestmark = pytest.mark.fuzz
ATTEMPTS = 30


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished_run(tmp_path_factory.mktemp("runs"), steps=14)


def described(run: RunFolder) -> bool:
    """Whether all that the Training page and `runs` ask of it is answered; its status always is."""
    assert len(statuses(run.path.parent)) == 1
    assert in_one_sentence(partial(status, run.path))
    return all([in_one_sentence(ask) for ask in (run.recipe, Metrics(run.path).read)])


@pytest.mark.parametrize("name", ["config.json", "status.json", "metrics.jsonl"])
def test_damaged_files_of_a_run(run: RunFolder, tmp_path: Path, name: str) -> None:
    copy = RunFolder(tmp_path / "run")
    shutil.copytree(run.path, copy.path, symlinks=True)
    assert described(copy)
    content = (copy.path / name).read_bytes()

    def attempt(chance: random.Random) -> bool:
        (copy.path / name).write_bytes(mutated(content, chance))
        return described(copy)

    # The recipe is in each checkpoint, too, and metrics are read as far as they go.
    assert fuzz(f"run {name}", ATTEMPTS, attempt) == 1


@pytest.mark.parametrize("name", ["config.json", "training.json", "model.safetensors", "optimizer.safetensors"])
def test_damaged_files_of_its_last_checkpoint(run: RunFolder, tmp_path: Path, name: str) -> None:
    step = tmp_path / "step"
    shutil.copytree(run.checkpoint(run.steps()[-1]), step)
    states.load(step)
    content = (step / name).read_bytes()

    def attempt(chance: random.Random) -> bool:
        (step / name).write_bytes(mutated(content, chance))
        return in_one_sentence(partial(states.load, step))

    assert fuzz(f"checkpoint {name}", ATTEMPTS, attempt) < 1
