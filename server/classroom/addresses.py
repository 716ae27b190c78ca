"""Whom an address stands for where something is limited for each visitor."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network, ip_address


def whose(address: str) -> str:
    """The network that an address belongs to: of IPv6, one household has 2**64 addresses."""
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return address
    return str(ip.ipv4_mapped or IPv6Network((ip.packed, 64), strict=False))
