"""Who may come in, as the settings say it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address

NO_PASSWORD = "--no-password"
SHORTEST = 8  # characters of a password; with as many guesses as server/attempts.py grants, a shorter one is found
_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True)
class Access:
    """Where the server listens, the names that it answers to, and the password that it asks for, if any."""

    address: str
    hosts: tuple[str, ...] = ()
    password: str | None = field(default=None, repr=False)
    everybody: bool = False  # a public demonstration, or no password by one's own word

    @property
    def beyond(self) -> bool:
        """Whether it listens to more than this machine."""
        return not is_loopback(self.address)

    @property
    def only_here(self) -> bool:
        """Whether it is for this machine alone, where nobody is asked for anything."""
        return self.password is None and not self.everybody

    def allows(self, name: str) -> bool:
        """Whether the server answers to a name, or an address, that a request calls it by.

        An address cannot be rebound to another machine, so where others are expected any address will do.
        """
        name = name.lower().rstrip(".")
        if is_loopback(name) or name == self.address.lower() or (self.beyond and as_ip(name)):
            return True
        return any(name.endswith(host[1:]) if host.startswith("*.") else name == host for host in self.hosts)


def access(address: str, environment: Mapping[str, str], arguments: Sequence[str], public: bool) -> Access:
    """What the settings say. Raises ValueError where they contradict each other or would let anybody in."""
    hosts = tuple(filter(None, (part.strip().lower().rstrip(".") for part in _given(environment, "HOSTS").split(","))))
    for host in hosts:
        if not _NAME.fullmatch(host) and not as_ip(host):
            raise ValueError(f"HEADLIGHT_HOSTS holds {host[:100]!r}: give names, as class.example,*.school.example")
    password, without = _given(environment, "PASSWORD"), NO_PASSWORD in arguments
    if password and without:
        raise ValueError(f"HEADLIGHT_PASSWORD and {NO_PASSWORD} were both given: leave one of them out.")
    if password and len(password) < SHORTEST:
        raise ValueError(f"HEADLIGHT_PASSWORD has {len(password)} characters: choose one of at least {SHORTEST}.")
    found = Access(address, hosts, password or None, everybody=without or public)
    if found.only_here and (found.beyond or any(not is_loopback(host) for host in hosts)):
        where = f"at {address}" if found.beyond else f"as {hosts[0]}"
        raise ValueError(
            f"Others could reach this server {where} and do all that you can. Set HEADLIGHT_PASSWORD to the password "
            f"that it asks them for, or HEADLIGHT_PUBLIC=1 to let them only look, or add {NO_PASSWORD} if you trust "
            "everybody there; at 127.0.0.1 it is for this machine alone."
        )
    return found


def is_loopback(name: str) -> bool:
    """Whether a name or an address always means the machine itself."""
    ip = as_ip(name)
    return ip.is_loopback if ip else name == "localhost" or name.endswith(".localhost")


def as_ip(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _given(environment: Mapping[str, str], name: str) -> str:
    return environment.get(f"HEADLIGHT_{name}", "")
