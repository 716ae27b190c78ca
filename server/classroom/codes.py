"""The code that a teacher reads aloud for pupils to join, and the random secrets of teachers and browsers."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from ipaddress import IPv6Address, IPv6Network, ip_address

DIGITS = 8  # server/attempts.py allows six guesses a minute: too few to find one of a hundred million codes


def new_code() -> str:
    return f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"


def spelt(code: str) -> str:
    """Return the code as it is read aloud: two groups of four."""
    return f"{code[:4]} {code[4:]}"


def parse(typed: object) -> str | None:
    """Return the code that somebody typed, with or without spaces and hyphens; None for anything else."""
    code = re.sub(r"[\s-]", "", typed) if isinstance(typed, str) and len(typed) <= 40 else ""
    return code if re.fullmatch(rf"[0-9]{{{DIGITS}}}", code) else None


def new_secret() -> str:
    """Return 22 random characters that are safe in URLs, cookies and the keys of a store."""
    return secrets.token_urlsafe(16)


def digest(secret: str) -> str:
    """Return the digest of a teacher's secret; the store holds the digest alone."""
    return hashlib.sha256(secret.encode()).hexdigest()


def matches(secret: str, stored_digest: str) -> bool:
    return hmac.compare_digest(digest(secret), stored_digest)


def network_of(address: str) -> str:
    """Return the network by which an address is counted: an IPv4 address itself, and the /64 of an IPv6 address.

    One household has a whole /64.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Network((ip.packed, 64), strict=False))
