"""A limit on wrong passwords: a burst, then one every few seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from server.classroom.codes import whose

# A class behind one address mistypes a few times in its first minute; an attacker gets six guesses a minute.
EACH, EACH_AGAIN = 20, 10.0  # wrong passwords that one address may enter in a burst; seconds until it may try once more
# One browser gets fewer, so that whoever types wrong codes at a school's address leaves the others theirs. A program
# that sends no cookie is limited by its address alone.
OWN, OWN_AGAIN = 5, 30.0
# Ten addresses that guess without a pause keep everybody else from signing in while they do, and one second longer.
# Sessions that are signed in already are not affected.
ALL, ALL_AGAIN = 100, 1.0


class Attempts:
    """Counts wrong passwords or codes for each browser that says which it is, each address, and all together.

    It forgets them with time.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.debts: dict[str, float] = {}  # when all wrong passwords of an address or a browser will be forgotten
        self.debt = 0.0  # the same for all addresses together

    def wait(self, address: str, browser: str = "") -> int:
        """Seconds until this browser at this address may try again; 0 if it may now."""
        now = self.clock()
        ends = [self.debt - (ALL - 1) * ALL_AGAIN]
        ends += [self.debts.get(name, 0.0) - (most - 1) * again for name, most, again in _limits(address, browser)]
        return max(0, math.ceil(max(ends) - now))

    def wrong(self, address: str, browser: str = "") -> None:
        now = self.clock()
        # At most about `ALL` addresses are kept, and those that are let in until the oldest is forgotten.
        self.debts = {name: end for name, end in self.debts.items() if end > now}
        for name, _, again in _limits(address, browser):
            self.debts[name] = max(now, self.debts.get(name, now)) + again
        self.debt = max(now, self.debt) + ALL_AGAIN


def _limits(address: str, browser: str) -> list[tuple[str, int, float]]:
    """Under which names an attempt is counted, with the burst and the seconds of each."""
    limits = [(whose(address), EACH, EACH_AGAIN)]
    return [*limits, (f"browser {browser}", OWN, OWN_AGAIN)] if browser else limits
