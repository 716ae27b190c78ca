"""Shares as people read them. The pages' scripts do the same: `percent` in headlight/viewer/js/core.js."""

from __future__ import annotations

from math import floor

NBSP = "\u00a0"
ROUNDING = 1e-5  # of a share: what is nearer to none or to all is an error of rounding


def percent(share: float) -> str:
    """Write a share from 0 to 1 in whole per cent: "35 %", with a no-break space.

    It says "under 1 %" or "over 99 %" where rounding would say that nothing, or everything, is meant.
    """
    if ROUNDING < share < 0.005:
        return f"under 1{NBSP}%"
    if 0.995 <= share < 1 - ROUNDING:
        return f"over 99{NBSP}%"
    return f"{floor(100 * share + 0.5)}{NBSP}%"
