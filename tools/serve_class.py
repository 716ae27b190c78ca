"""`headlight class`, in a clone `make class`: serve the app to a teacher and, on the local network, to pupils' phones.

It listens on every interface of this machine. The teacher's pages ask for HEADLIGHT_PASSWORD, or for a password that is
generated and printed; /join, where pupils answer, asks for none. PORT and BASE say where, as in tools/production.py.
"""

from __future__ import annotations

import argparse
import io
import os
import secrets
import socket
import sys

import segno

from server.access import access, is_loopback
from tools import production
from ui.state.public import public

JOIN_ADDRESS = "HEADLIGHT_JOIN_ADDRESS"
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that are read as others
_UNUSED_ADDRESS = "192.0.2.1"  # an address of no machine (RFC 5737), which the default route leads to


def lan_address() -> str:
    """Return the IPv4 address by which other machines reach this one. Raises ValueError without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # a datagram socket connects without sending
        try:
            probe.connect((_UNUSED_ADDRESS, 9))
            address = str(probe.getsockname()[0])
        except OSError:  # no default route
            address = next(iter(production.addresses()), "127.0.0.1")
    if is_loopback(address):
        raise ValueError("This machine is in no network that phones could share: connect it, then start again.")
    return address


def new_password() -> str:
    """Return three groups of four letters and digits, 59 bits."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(4)) for _ in range(3))


def welcome(join: str, teach: str, password: str | None) -> str:
    """Return the text for the terminal; `password` is None where the teacher has set it."""
    code = _qr(join)
    password_text = "the password that HEADLIGHT_PASSWORD holds" if password is None else f"the password {password}"
    return (
        f"{code}\n"
        f"Pupils join at  {join}\n"
        f"You teach at    {teach}  with {password_text}: choose a lesson, then Start a class.\n\n"
        "Phones have to be in the same network as this machine, and its firewall must let them in.\n"
        "Ctrl+C ends it.\n"
    )


def _qr(link: str) -> str:
    """Return the link as a QR code of half blocks: dark on light in any terminal that has colours."""
    drawn = io.StringIO()
    segno.make(link, error="m").terminal(drawn, compact=True)  # blocks where it is light
    before, after = ("\033[97;40m", "\033[0m") if sys.stdout.isatty() else ("", "")
    return "\n".join(f"{before}{line}{after}" for line in drawn.getvalue().splitlines())


def main() -> None:
    argparse.ArgumentParser(prog="python -m tools.serve_class", description=__doc__).parse_args()
    os.environ["HOST"] = "0.0.0.0"
    generated = None if os.environ.get("HEADLIGHT_PASSWORD") else new_password()
    if generated:
        os.environ["HEADLIGHT_PASSWORD"] = generated
    base = os.environ.get("BASE", "").strip("/")
    try:
        path = f":{production.port()}/{base}".rstrip("/")
        os.environ.setdefault(JOIN_ADDRESS, f"http://{lan_address()}{path}")
        access(production.host(), os.environ, [], public())
        production.require_listening()
    except ValueError as error:
        sys.exit(str(error))
    join = os.environ[JOIN_ADDRESS].rstrip("/") + "/join"
    print(welcome(join, f"http://localhost{path}/lessons", generated), flush=True)
    os.chdir(production.APP.parent)
    os.execve(sys.executable, production.command(), production.environment())


if __name__ == "__main__":
    main()
