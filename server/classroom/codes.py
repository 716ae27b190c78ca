"""The code that is read aloud to join a class, and the secrets that nobody reads."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from ipaddress import IPv6Address, IPv6Network, ip_address

DIGITS = 8  # at the six guesses a minute that server/attempts.py allows, one of a hundred million is not found


def new_code() -> str:
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"


def spelt(code: str) -> str:
    """Return the code as it is read aloud: two groups of four."""
    return f"{code[:4]} {code[4:]}"


def read(typed: object) -> str | None:
    """Return the code that somebody typed, however it is spaced, or None where it can't be one."""
    code = re.sub(r"[\s-]", "", typed) if isinstance(typed, str) and len(typed) <= 40 else ""
    return code if re.fullmatch(rf"[0-9]{{{DIGITS}}}", code) else None


def new_secret() -> str:
    """Return 22 random characters that fit into an address, a cookie and a key."""
    return secrets.token_urlsafe(16)


def digest(secret: str) -> str:
    """Return the digest of a teacher's secret, which is all that the store has of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(secret: str, stored: str) -> bool:
    return hmac.compare_digest(digest(secret), stored)


def network_of(address: str) -> str:
    """Return the network that an address belongs to.

    Of IPv6 that is the /64, since one household has 2**64 addresses.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Network((ip.packed, 64), strict=False))
