"""Run fuzzers with a few fixed seeds or, if HEADLIGHT_FUZZ_SECONDS is set, with new seeds for that long.

A seed that fails is saved in tests/fuzz_seeds, in the file of its fuzzer, and from then on tried before all others:
commit it together with the fix.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults import mutated

FUZZ_SECONDS = float(os.environ.get("HEADLIGHT_FUZZ_SECONDS") or 0)  # per fuzzer
SEEDS_FOLDER = Path(__file__).with_name("fuzz_seeds")


def fuzz(name: str, times: int, attempt: Callable[[random.Random], bool], folder: Path = SEEDS_FOLDER) -> float:
    """Call `attempt` with the random numbers of each seed; return the share of calls that returned True."""
    path = folder / re.sub(r"[^\w.-]", "-", name)
    failed_seeds = path.read_text("utf-8").splitlines() if path.exists() else []
    outcomes = [attempt(random.Random(seed)) for seed in failed_seeds]
    if not FUZZ_SECONDS:
        return _share(outcomes + [attempt(random.Random(f"{name} {number}")) for number in range(times)])
    end = time.monotonic() + FUZZ_SECONDS
    while time.monotonic() < end:
        seed = f"{random.SystemRandom().getrandbits(64):x}"
        path.write_text("\n".join([*failed_seeds, seed, ""]), "utf-8")  # in case the attempt ends the process
        outcomes.append(attempt(random.Random(seed)))
        if failed_seeds:
            path.write_text("\n".join([*failed_seeds, ""]), "utf-8")
        else:
            path.unlink()
    return _share(outcomes)


def fuzz_file(name: str, times: int, path: Path, succeeds: Callable[[random.Random], bool]) -> float:
    """Write the file at `path` with other small faults before each call; return the share of calls that succeed."""
    content = path.read_bytes()

    def attempt(chance: random.Random) -> bool:
        path.write_bytes(mutated(content, chance))
        return succeeds(chance)

    return fuzz(name, times, attempt)


def _share(outcomes: list[bool]) -> float:
    return sum(outcomes) / len(outcomes)
