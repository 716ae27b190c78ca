"""The address at which pupils join a class on this server, and its QR code."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import segno
import streamlit as st

from headlight import folders
from headlight.language import gettext
from ui.state.cache import cached

_COMMANDS = ("headlight class", "headlight serve")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def join_address() -> str | None:
    """Return the address at which phones join, or None if none is known.

    It is where this browser found the server, unless that is a loopback address, which would lead phones to themselves:
    then it is HEADLIGHT_JOIN_ADDRESS, which `headlight class` sets to the machine's address in the local network.
    """
    address, _, _ = (st.context.url or "http://localhost/").partition("?")
    base = address.rstrip("/").removesuffix("/lessons")
    if urlsplit(address).hostname in _LOOPBACK:
        base = os.environ.get("HEADLIGHT_JOIN_ADDRESS", "").rstrip("/")
    return f"{base}/join" if base else None


def how_to_be_reached() -> str:
    """Say what to do if phones can't reach the address of this page."""
    if (st.get_option("server.address") or "0.0.0.0") not in _LOOPBACK:
        return gettext(
            "Phones can’t reach this address. Open this page by the address of this machine in your network."
        )
    class_, serve = ("make class", "make serve") if folders.CLONE else _COMMANDS
    return gettext(
        "Phones can’t reach this address: it is for this machine alone. Run `{command}` in a terminal: it serves the "
        "app to your network, and prints the address and a QR code for phones. This class goes on there with its code. "
        "(For a lasting server: `{serve}`.)",
        command=class_,
        serve=serve,
    )


@cached(100, turn=False)
def qr_code(link: str) -> str:
    """Return the link's QR code as a data URI; cached, since every screen is drawn again each second."""
    return str(segno.make(link, error="m").svg_data_uri(scale=4, border=2))
