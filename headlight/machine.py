"""Functions whose implementation depends on the operating system: freed memory, cores, peak memory, file locks."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from typing import IO, Any

try:
    import fcntl
    import resource
except ImportError:  # Windows
    import msvcrt

    fcntl = resource = None  # type: ignore[assignment]

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4  # malloc.h of the GNU C library
_LARGE_BLOCK_BYTES = 2**20


def release_freed_memory() -> None:
    """Return the memory that this process has freed to the system; only on Linux.

    Blocks of many sizes fragment the freed memory into pieces that are too small for the next block, and the process
    grows although it needs no more than before.
    """
    _malloc("malloc_trim", 0)


def retain_freed_memory() -> None:
    """Let this process keep the memory that it frees for its next use; only on Linux.

    Decoding writes new scores at each step, a row per hypothesis and a number per token. By default such a block is
    returned to the system each time, and the page faults of the next one cost more than the computation.
    """
    _malloc("mallopt", _MMAP_MAX, 0)
    _malloc("mallopt", _TRIM_THRESHOLD, 2_000_000_000)


def return_large_blocks() -> None:
    """Return every block of a megabyte or more to the system as soon as it is freed; only on Linux.

    By default the C library keeps such blocks once it has freed one, and a small result that is allocated in one of
    them leaves no room for the next large block: leaving out each of 512 words held 2 GB, of which 50 MB were in use.
    """
    _malloc("mallopt", _MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)


def limit_onednn_cache() -> None:
    """Limit the caches of oneDNN kernels to 128 entries each, from 1,024; call it before the first matrix product.

    oneDNN compiles a kernel for every linear layer and number of rows, and caches it with half a megabyte; so does
    ideep, through which torch calls it. A server meets hundreds of kernels, and most never again.
    """
    for capacity in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
        os.environ.setdefault(capacity, "128")


def _malloc(function: str, *numbers: int) -> None:
    """Call a function of the GNU C library, where there is one."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            getattr(ctypes.CDLL(None), function)(*numbers)


def cores() -> int:
    """Return the number of processor cores that this process may use; all of them where the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_memory() -> int:
    """Return the largest memory that this process has had, in bytes."""
    if resource is None:
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    unit = 1 if sys.platform == "darwin" else 1024  # getrusage(2) of each system
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def lock(file: IO[Any]) -> bool:
    """Lock an open file for this process, and return whether that succeeded; closing the file unlocks it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_first_byte(file, msvcrt.LK_NBLCK)
    except (BlockingIOError, PermissionError):  # the latter from Windows
        return False
    return True


def unlock(file: IO[Any]) -> None:
    """Unlock a file that is about to be closed: Windows may unlock it only later."""
    if fcntl is None:
        _lock_first_byte(file, msvcrt.LK_UNLCK)


def _lock_first_byte(file: IO[Any], mode: int) -> None:
    file.seek(0)
    msvcrt.locking(file.fileno(), mode, 1)  # type: ignore[attr-defined]


def threads(wanted_threads: int | None) -> int:
    """Return the number of threads to use: as many as wanted, at most one for each core."""
    return min(wanted_threads or cores(), cores())
