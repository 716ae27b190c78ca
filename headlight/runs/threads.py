"""How many processor cores a training may take."""

from __future__ import annotations

import os


def cores() -> int:
    """Those that this process may use; all, on a system that does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads(asked: int | None) -> int:
    """All cores, or as many of them as are asked for: more threads than cores only wait for one another."""
    return min(asked or cores(), cores())
