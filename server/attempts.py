"""A limit on wrong passwords: a burst, then one every few seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

from server.classroom.codes import network_of


class RateLimit(NamedTuple):
    """A burst of wrong passwords that is accepted, and the seconds until one more may be tried."""

    burst: int
    retry_seconds: float


# A class behind one address mistypes a few times in its first minute; an attacker gets six guesses a minute.
PER_ADDRESS = RateLimit(20, 10.0)
# One browser gets fewer, so that a pupil who types wrong codes does not use up the attempts of a whole school, which
# shares one address. A program that sends no cookie is limited by its address alone.
PER_BROWSER = RateLimit(5, 30.0)
# Ten addresses that guess without a pause keep everybody else from signing in while they do, and one second longer.
# Sessions that are signed in already are not affected.
IN_TOTAL = RateLimit(100, 1.0)


class Attempts:
    """Counts wrong passwords or codes for each browser that identifies itself, each address, and all together.

    Wrong attempts are forgotten with time, at the rate of each RateLimit.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.debts: dict[str, float] = {}  # when all wrong passwords of an address or a browser will be forgotten
        self.debt = 0.0  # the same for all addresses together

    def wait(self, address: str, browser: str = "") -> int:
        """Return the seconds until this browser at this address may try again; 0 if it may now."""
        now = self.clock()
        ends = [_end(self.debt, IN_TOTAL)]
        ends += [_end(self.debts.get(name, 0.0), limit) for name, limit in _limits(address, browser)]
        return max(0, math.ceil(max(ends) - now))

    def wrong(self, address: str, browser: str = "") -> None:
        now = self.clock()
        # What is forgotten is dropped. About IN_TOTAL.burst entries stay, plus those let in until the oldest expires.
        self.debts = {name: end for name, end in self.debts.items() if end > now}
        for name, limit in _limits(address, browser):
            self.debts[name] = max(now, self.debts.get(name, now)) + limit.retry_seconds
        self.debt = max(now, self.debt) + IN_TOTAL.retry_seconds


def _end(debt: float, limit: RateLimit) -> float:
    """Return the time at which another password may be tried if all wrong ones are forgotten at `debt`."""
    return debt - (limit.burst - 1) * limit.retry_seconds


def _limits(address: str, browser: str) -> list[tuple[str, RateLimit]]:
    """Return the names under which an attempt is counted, each with its limit."""
    limits = [(network_of(address), PER_ADDRESS)]
    return [*limits, (f"browser {browser}", PER_BROWSER)] if browser else limits
