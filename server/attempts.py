"""How many wrong passwords are taken: so many at once, then one now and then."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network

from server.access import as_ip

# A class behind one address mistypes a few times in its first minute; who guesses gets six tries a minute.
EACH, EACH_AGAIN = 20, 10.0  # wrong ones of one address at once; seconds until it may try once more
# Ten addresses that guess without a pause keep all others from signing in for as long as they go on, and a second more.
# Who is signed in already is not asked.
ALL, ALL_AGAIN = 100, 1.0


class Attempts:
    """Counts wrong passwords for each address and for all, and forgets them again with time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.debts: dict[str, float] = {}  # when all of an address's wrong ones will be forgotten
        self.debt = 0.0  # and when all of everybody's

    def wait(self, address: str) -> int:
        """Seconds until the address may try again; 0 if it may now."""
        now = self.clock()
        each = self.debts.get(whose(address), 0.0) - now - (EACH - 1) * EACH_AGAIN
        return max(0, math.ceil(each), math.ceil(self.debt - now - (ALL - 1) * ALL_AGAIN))

    def wrong(self, address: str) -> None:
        now = self.clock()
        # Few are here at any time: `ALL`, and those that it lets in until the oldest is forgotten.
        self.debts = {name: end for name, end in self.debts.items() if end > now}
        self.debts[whose(address)] = max(now, self.debts.get(whose(address), now)) + EACH_AGAIN
        self.debt = max(now, self.debt) + ALL_AGAIN


def whose(address: str) -> str:
    """Who an address belongs to: of the newer kind, each home has 2**64 of them."""
    ip = as_ip(address)
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Network((ip.packed, 64), strict=False))
