"""Load of the machine during a benchmark: processor time of the contestants and of other programs.

The contestants are this process and every process that comes from it, detached and ended ones included. The system adds
the time of a process that ended to that of the parent that waited for it; one whose parent did not wait becomes a child
of this process, which does not wait for it either, so that its time can still be read.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from typing import Any, NamedTuple

import psutil

from headlight.formatting import percent

TICK_SECONDS = 0.01  # the resolution of the system's processor times
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of linux/prctl.h


class ProcessorReading(NamedTuple):
    """Seconds since an arbitrary start: of the clock; of all processors together; of them idle, stolen, and ours."""

    clock: float
    processors: float
    idle: float
    stolen: float
    contestants: float
    load: float

    @classmethod
    def read(cls) -> ProcessorReading:
        every = psutil.cpu_times()._asdict()
        every = {kind: seconds for kind, seconds in every.items() if not kind.startswith("guest")}  # a part of "user"
        idle = every["idle"] + every.get("iowait", 0.0)
        stolen = every.get("steal", 0.0)
        return cls(time.monotonic(), sum(every.values()), idle, stolen, _contestant_seconds(), os.getloadavg()[0])


def _contestant_seconds() -> float:
    """Return the seconds of processor time of this process, its descendants, and their finished children."""
    process, total = psutil.Process(), 0.0
    for member in (process, *process.children(recursive=True)):
        try:
            total += sum(member.cpu_times()[:4])
        except psutil.NoSuchProcess:  # it ended just now
            continue
    return total


class Busy:
    """Measures how busy the machine is, from the moment it is created."""

    def __init__(self) -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        self.before = ProcessorReading.read()

    def shares_since_begin(self) -> dict[str, float]:
        """Return `shares` from the beginning until now."""
        return shares(self.before, ProcessorReading.read())


def shares(before: ProcessorReading, after: ProcessorReading) -> dict[str, float]:
    """Return the clock's seconds between two readings, the load at each, and shares of the time of all processors.

    The shares are those of the contestants, of other programs, and of other machines of the host.
    """
    total = max(after.processors - before.processors, TICK_SECONDS)
    contestants, stolen = after.contestants - before.contestants, after.stolen - before.stolen
    # Rounding to ticks can make this negative.
    other_processes = total - (after.idle - before.idle) - stolen - contestants
    return {
        "seconds": round(after.clock - before.clock, 1),
        "load_before": round(before.load, 1),
        "load_after": round(after.load, 1),
        "contestants": round(contestants / total, 3),
        "others": round(max(other_processes / total, 0.0), 3),
        "stolen": round(stolen / total, 3),
    }


def busy_text(busy: dict[str, Any]) -> str:
    return (
        f"Of the time of all processors over {busy['seconds']:,.0f} s the contestants used "
        f"{percent(busy['contestants'])}, other programs {percent(busy['others'])}, other machines of the host "
        f"{percent(busy['stolen'])}; load {busy['load_before']} before, {busy['load_after']} after."
    )
