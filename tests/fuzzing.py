"""What every fuzzer shares: few seeds that are always the same, or, with HEADLIGHT_FUZZ_SECONDS, new ones for so long.

A seed that failed is kept in tests/fuzz_seeds, in the file of its fuzzer, and from then on tried before all others:
commit it with what mends it.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

SECONDS = float(os.environ.get("HEADLIGHT_FUZZ_SECONDS") or 0)  # for each fuzzer
KEPT = Path(__file__).with_name("fuzz_seeds")


def fuzz(name: str, times: int, attempt: Callable[[random.Random], bool], kept: Path = KEPT) -> float:
    """The share of attempts that went well, each with the chances of its own seed; what an attempt raises comes out."""
    path = kept / re.sub(r"[^\w.-]", "-", name)
    old = path.read_text("utf-8").splitlines() if path.exists() else []
    went = [attempt(random.Random(seed)) for seed in old]
    if not SECONDS:
        return _share(went + [attempt(random.Random(f"{name} {number}")) for number in range(times)])
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        seed = f"{random.SystemRandom().getrandbits(64):x}"
        path.write_text("\n".join([*old, seed, ""]), "utf-8")  # before it is tried: it may end the process
        went.append(attempt(random.Random(seed)))
        if old:
            path.write_text("\n".join([*old, ""]), "utf-8")
        else:
            path.unlink()
    return _share(went)


def _share(went: list[bool]) -> float:
    return sum(went) / len(went)
