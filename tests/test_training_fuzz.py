"""A run with a damaged file: what is said of it is said in one sentence, and the runs are still listed."""

import random
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests.faults import in_one_sentence, mutated
from tests.fuzzing import fuzz
from tests.small_run import finished_run
from transformer.training import Metrics, RunFolder, status, statuses
from transformer.training import state as states

pytestmark = pytest.mark.fuzz
TIMES = 100


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return finished_run(tmp_path_factory.mktemp("runs"), steps=14)


def described(run: RunFolder) -> None:
    """What the Training page and `runs` ask of it."""
    assert len(statuses(run.path.parent)) == 1
    for ask in (run.recipe, Metrics(run.path).read):
        in_one_sentence(ask)


@pytest.mark.parametrize("name", ["config.json", "status.json", "metrics.jsonl"])
def test_damaged_files_of_a_run(run: RunFolder, tmp_path: Path, name: str) -> None:
    copy = RunFolder(tmp_path / "run")
    shutil.copytree(run.path, copy.path, symlinks=True)
    described(copy)
    content = (copy.path / name).read_bytes()

    def attempt(chance: random.Random) -> bool:
        (copy.path / name).write_bytes(mutated(content, chance))
        described(copy)
        return in_one_sentence(partial(status, copy.path))

    fuzz(f"run {name}", TIMES, attempt)


@pytest.mark.parametrize("name", ["config.json", "training.json", "model.safetensors", "optimizer.safetensors"])
def test_damaged_files_of_its_last_checkpoint(run: RunFolder, tmp_path: Path, name: str) -> None:
    step = tmp_path / "step"
    shutil.copytree(run.checkpoint(run.steps()[-1]), step)
    states.load(step)
    content = (step / name).read_bytes()

    def attempt(chance: random.Random) -> bool:
        (step / name).write_bytes(mutated(content, chance))
        return in_one_sentence(partial(states.load, step))

    assert fuzz(f"checkpoint {name}", TIMES, attempt) < 1
