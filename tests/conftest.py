"""Settings of all tests: one thread, no network, no deadlines; and a device for tests marked `device`."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

# Before torch and the Hugging Face libraries are imported: they read these once.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: a second thread only costs
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

import pytest
from hypothesis import settings

# Hypothesis draws the same examples in every run, and a slow machine fails no deadline.
settings.register_profile("headlight", max_examples=40, deadline=None, derandomize=True, database=None)
settings.load_profile("headlight")

gc.disable()  # imported modules and collected tests live on; searching them for garbage takes a tenth of the time

os.fsync = lambda descriptor: None  # no test cuts the power, and waiting for the disk is slow


def pytest_collection_finish() -> None:
    """Collect garbage again from here on, but only among the objects that the tests make."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "where tests marked `device` have their models: cpu, cuda, or gpu, a simulated one; a GPU if there is one"
    parser.addoption("--device", help=text)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("device") and isinstance(item, pytest.Function):
            item.fixturenames.insert(0, "device")  # before the fixtures that make models


def save_small_checkpoint(folder: Path) -> Path:
    from headlight import checkpoints
    from tests.small import small_checkpoint

    checkpoints.save(small_checkpoint(), folder)
    return folder


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of the small checkpoint, which no test changes."""
    return str(save_small_checkpoint(tmp_path_factory.mktemp("small") / "small"))


@pytest.fixture(scope="session")
def reverse_only(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder with the smallest model that ships, for servers that need no other and shall start soon."""
    folder, ignored = tmp_path_factory.mktemp("checkpoints"), shutil.ignore_patterns("history")
    shutil.copytree(Path(__file__).parents[1] / "checkpoints" / "reverse", folder / "reverse", ignore=ignored)
    return str(folder)


@pytest.fixture
def small_copy(tmp_path: Path) -> Path:
    """Return a folder with the small checkpoint, which the test may change."""
    return save_small_checkpoint(tmp_path / "small")


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the device of the models in tests/small.py: that of --device, else a GPU if there is one."""
    import torch

    from tests import small

    name = request.config.getoption("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    monkeypatch.setattr(small, "DEVICE", name)
    if name != "gpu":
        yield name
        return
    from tests.simulated_gpu import simulated_gpu

    with simulated_gpu():
        yield name
