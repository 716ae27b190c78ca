"""The settings that decide who may use the server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address

NO_PASSWORD = "--no-password"
MIN_PASSWORD_CHARACTERS = 8  # a shorter one can be guessed at the rate that server/attempts.py allows
_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True)
class Access:
    """The address of the server, the host names that it answers to, and its password, if any."""

    address: str
    hosts: tuple[str, ...] = ()
    password: str | None = field(default=None, repr=False)
    open_to_all: bool = False  # a public demonstration, or --no-password

    @property
    def accepts_remote(self) -> bool:
        """Whether machines other than this one can connect."""
        return not is_loopback(self.address)

    @property
    def is_local_only(self) -> bool:
        """Whether the server is for this machine alone, without a password."""
        return self.password is None and not self.open_to_all

    def allows(self, name: str) -> bool:
        """Return whether this server answers to `name`, the host name or IP address in a request's Host header.

        DNS rebinding needs a host name, so where other machines may connect, any IP address is allowed.
        """
        name = name.lower().rstrip(".")
        if is_loopback(name) or name == self.address.lower() or (self.accepts_remote and as_ip(name)):
            return True
        return any(name.endswith(host[1:]) if host.startswith("*.") else name == host for host in self.hosts)


def access(address: str, environment: Mapping[str, str], arguments: Sequence[str], public: bool) -> Access:
    """Read and check the settings. Raises ValueError where they contradict each other or would let anybody in."""
    hosts = tuple(filter(None, (part.strip().lower().rstrip(".") for part in _value(environment, "HOSTS").split(","))))
    for host in hosts:
        if not _NAME.fullmatch(host) and not as_ip(host):
            raise ValueError(
                f"HEADLIGHT_HOSTS contains {host[:100]!r}; give host names, such as class.example,*.school.example."
            )
    password, no_password = _value(environment, "PASSWORD"), NO_PASSWORD in arguments
    if password and no_password:
        raise ValueError(f"HEADLIGHT_PASSWORD and {NO_PASSWORD} were both given; remove one of them.")
    if password and len(password) < MIN_PASSWORD_CHARACTERS:
        raise ValueError(
            f"HEADLIGHT_PASSWORD has {len(password)} characters: choose one of at least {MIN_PASSWORD_CHARACTERS}."
        )
    settings = Access(address, hosts, password or None, open_to_all=no_password or public)
    if settings.is_local_only and (settings.accepts_remote or any(not is_loopback(host) for host in hosts)):
        at = f"at {address}" if settings.accepts_remote else f"as {hosts[0]}"
        raise ValueError(
            f"Anybody who can reach this server {at} could do all that you can. Set HEADLIGHT_PASSWORD to ask for a "
            f"password, set HEADLIGHT_PUBLIC=1 to let visitors only look, add {NO_PASSWORD} if you trust everybody "
            "there, or listen at 127.0.0.1 for this machine alone."
        )
    return settings


def is_loopback(name: str) -> bool:
    """Return whether a host name or an IP address always means the machine itself."""
    ip = as_ip(name)
    return ip.is_loopback if ip else name == "localhost" or name.endswith(".localhost")


def as_ip(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _value(environment: Mapping[str, str], name: str) -> str:
    return environment.get(f"HEADLIGHT_{name}", "")
