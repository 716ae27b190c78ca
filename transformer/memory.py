"""How this process keeps memory."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # malloc.h of the GNU C library


def keep_freed() -> None:
    """Lets this process keep what it frees for what it asks for next; elsewhere than on Linux, does nothing.

    Decoding writes its scores anew at each step, a row a hypothesis and a number a word. By default such a block is
    given back to the system each time, and the first touch of each new page costs more than what is computed there.
    """
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    mallopt(_MMAP_MAX, 0)
    mallopt(_TRIM_THRESHOLD, 2_000_000_000)
