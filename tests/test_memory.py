import subprocess
import sys

import pytest

COUNT = """
import resource, torch
from transformer.memory import keep_freed
if {keep}:
    keep_freed()
torch.set_num_threads(1)
blocks = lambda: torch.ones(8, 1_250_000).sum().item()  # 40 MB, freed at the end
for _ in range(3):
    blocks()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    blocks()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="what other systems do with freed memory is theirs")
def test_what_was_freed_is_there_again() -> None:
    faults = {}
    for keep in (False, True):
        code = COUNT.format(keep=keep)
        faults[keep] = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)
    assert 3 * faults[True] < faults[False] > 5_000  # a block may come to lie in another place once
