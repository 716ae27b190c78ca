"""Freed memory is reused, and caches of the processor's library stay small; each test runs in its own process."""

import os
import subprocess
import sys

import pytest

from headlight.runs.steer import worker_environment

COUNT = """
import resource, torch
from headlight.machine import retain_freed_memory
torch.set_num_threads(1)
blocks = lambda: torch.ones(8, 1_250_000).sum().item()  # 40 MB, freed at the end
for keep in (False, True):
    if keep:
        retain_freed_memory()
    for _ in range(3):
        blocks()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        blocks()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what other systems do with freed memory is theirs")
def test_what_was_freed_is_there_again() -> None:
    counted = subprocess.run([sys.executable, "-c", COUNT], check=True, capture_output=True)
    returned, kept = map(int, counted.stdout.split())
    assert 3 * kept < returned > 20_000  # a block may come to lie in another place a few times


# `held()`: the megabytes that malloc has handed out.
HEAP = """
import ctypes
names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()  # malloc.h
Statistics = type("Statistics", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in names]})
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Statistics
held = lambda: mallinfo2().uordblks / 1e6
"""

SHAPES = """
import torch
weight = torch.ones(64, 64, dtype=torch.bfloat16)
product = lambda rows: torch.ones(rows, 64, dtype=torch.bfloat16) @ weight
for rows in range(100, 240):
    product(rows)
before = held()
for rows in range(240, 440):
    product(rows)
print(held() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the GNU C library")
def test_a_worker_does_not_hold_memory_for_each_shape_of_a_batch() -> None:
    environment = {**os.environ, **worker_environment(1)}
    ran = subprocess.run([sys.executable, "-c", HEAP + SHAPES], check=True, capture_output=True, env=environment)
    assert float(ran.stdout) < 5.0  # MB


FREED = """
import ctypes, threading, time
from pathlib import Path
from ui.state import process
library = ctypes.CDLL(None)
library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
held = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6
def work():
    blocks = [library.malloc(100_000) for _ in range(2_000)]
    for block in blocks:
        ctypes.memset(block, 1, 100_000)
    for block in blocks[:-1]:  # the last of them keeps the heap from being cut off behind them
        library.free(block)
before = held()
worker = threading.Thread(target=work)  # as a session's script runs, in a heap of its own
worker.start()
worker.join()
freed = held()
process.SWEEP_SECONDS = 0.05
process.sweep_forever()
end = time.monotonic() + 10
while held() - before > 20 and time.monotonic() < end:
    time.sleep(0.05)
print(freed - before, held() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the GNU C library")
def test_the_server_returns_what_requests_have_freed() -> None:
    ran = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True)
    freed, swept = map(float, ran.stdout.split())  # MB
    assert freed > 180 and swept < 20


ROWS = """
import torch
from transformer.inference.linear import PackedLinear
from headlight.machine import limit_onednn_cache
if {few}:
    limit_onednn_cache()
product = torch.inference_mode()(PackedLinear(torch.nn.Linear(64, 64)))
for rows in range(1, 150):
    product(torch.ones(rows, 64))
before = held()
for rows in range(150, 650):
    product(torch.ones(rows, 64))
print(held() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks the GNU C library")
def test_a_server_does_not_hold_memory_for_each_length_of_a_sentence() -> None:
    held = {}
    for few in (False, True):
        ran = subprocess.run([sys.executable, "-c", HEAP + ROWS.format(few=few)], check=True, capture_output=True)
        held[few] = float(ran.stdout)
    assert held[True] < 1.0 < 2 * held[False], held  # MB
