"""What every test runs under: one thread, no network, no clock; and a device for those marked `device`."""

import gc
import os
from collections.abc import Iterator

# Before torch and the Hugging Face libraries are imported: they read these once.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: a second thread only costs
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

import pytest
from hypothesis import settings

# The same examples each time, so that more of them prove no more on the next day; and no deadline: a slow machine is no
# failure.
settings.register_profile("headlight", max_examples=40, deadline=None, derandomize=True, database=None)
settings.load_profile("headlight")

gc.disable()  # what is imported and collected stays, and looking for garbage in it takes a tenth of the time

os.fsync = lambda descriptor: None  # no test cuts the power, and a disk takes its time to answer


def pytest_collection_finish() -> None:
    """From here on garbage is looked for, among the tests' own objects alone."""
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


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where tests/small.py makes models: what --device says, or whatever there is."""
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
