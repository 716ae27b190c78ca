import subprocess
import sys

import pytest

COUNT = """
import resource, torch
from transformer.memory import keep_freed
if {keep}:
    keep_freed()
torch.set_num_threads(1)
blocks = lambda: torch.ones(8, 1_000_000).sum().item()  # 32 MB, freed at the end
blocks()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    blocks()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what other systems do with freed memory is theirs")
def test_what_was_freed_is_there_again() -> None:
    faults = {}
    for keep in (False, True):
        code = COUNT.format(keep=keep)
        faults[keep] = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    assert faults[True] < 100 < 5_000 < faults[False]
