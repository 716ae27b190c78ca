"""What every test runs under: one thread, no network, no clock."""

import gc
import os

# Before torch and the Hugging Face libraries are imported: they read these once.
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: a second thread only costs
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

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
