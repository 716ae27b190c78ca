"""A limit on wrong passwords: a burst, then one every few seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network

from server.access import as_ip

# A class behind one address mistypes a few times in its first minute; an attacker gets six guesses a minute.
EACH, EACH_AGAIN = 20, 10.0  # wrong passwords that one address may enter in a burst; seconds until it may try once more
# Ten addresses that guess without a pause keep everybody else from signing in while they do, and one second longer.
# Sessions that are signed in already are not affected.
ALL, ALL_AGAIN = 100, 1.0


class Attempts:
    """Counts wrong passwords for each address and for all together, and forgets them with time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.debts: dict[str, float] = {}  # when all wrong passwords of an address will be forgotten
        self.debt = 0.0  # the same for all addresses together

    def wait(self, address: str) -> int:
        """Seconds until the address may try again; 0 if it may now."""
        now = self.clock()
        each = self.debts.get(whose(address), 0.0) - now - (EACH - 1) * EACH_AGAIN
        return max(0, math.ceil(each), math.ceil(self.debt - now - (ALL - 1) * ALL_AGAIN))

    def wrong(self, address: str) -> None:
        now = self.clock()
        # At most about `ALL` addresses are kept, and those that are let in until the oldest is forgotten.
        self.debts = {name: end for name, end in self.debts.items() if end > now}
        self.debts[whose(address)] = max(now, self.debts.get(whose(address), now)) + EACH_AGAIN
        self.debt = max(now, self.debt) + ALL_AGAIN


def whose(address: str) -> str:
    """The network that an address belongs to: of IPv6, one household has 2**64 addresses."""
    ip = as_ip(address)
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Network((ip.packed, 64), strict=False))
