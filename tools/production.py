"""`python -m tools.production`: serve the app to others.

HOST and PORT say where, BASE below which path. HEADLIGHT_PASSWORD is asked for; HEADLIGHT_PUBLIC=1 makes it a public
demonstration, to which nothing can be uploaded. Without either, and without --no-password, it starts for this machine
alone.
"""

import argparse
import os
import socket
import sys
from pathlib import Path

import psutil

from server.access import NO_PASSWORD, access, is_loopback
from transformer.quoting import quoted
from ui.state.public import public

APP = Path(__file__).resolve().parents[1] / "app.py"


WILDCARDS = ("0.0.0.0", "::")


def host() -> str:
    return os.environ.get("HOST") or "127.0.0.1"


def port() -> str:
    """Return the port. Raises ValueError where PORT is not a port number."""
    arguments = os.environ.get("PORT") or "8501"
    if not (arguments.isdecimal() and 0 < int(arguments) < 2**16):
        raise ValueError(f"PORT is {quoted(arguments)}; give a number from 1 to {2**16 - 1}.")
    return arguments


def require_listening() -> None:
    """Raise ValueError where the port is taken or the system's, or the host is not this machine."""
    family = socket.AF_INET6 if ":" in host() else socket.AF_INET
    try:
        socket.create_server((host(), int(port())), family=family).close()
    except OSError as error:
        raise ValueError(f"The app cannot be served: {error.strerror}. Set another HOST or PORT.") from None


def options() -> dict[str, str]:
    """Return Streamlit's options; config.toml has those that hold everywhere."""
    return {
        "server.address": host(),
        "browser.serverAddress": "" if host() in WILDCARDS else host(),
        "server.port": port(),
        "server.baseUrlPath": os.environ.get("BASE", ""),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.runOnSave": "false",
        "server.enableXsrfProtection": "true",
        "server.enableCORS": "true",  # which, for Streamlit, is to refuse other sites
        "server.maxUploadSize": "0" if public() else "2048",
        "server.maxMessageSize": "100",
        "server.disconnectedSessionTTL": "60",  # seconds in which a lost connection may come back
        "client.showErrorDetails": "none",
        "client.toolbarMode": "viewer",
        "browser.gatherUsageStats": "false",
    }


def environment() -> dict[str, str]:
    """Return the environment of the server.

    One thread per request, since many come at once; and few malloc arenas, since each keeps freed memory.
    """
    return {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


def command(*more: str) -> list[str]:
    arguments = [f"--{name}={value}" for name, value in options().items() if value]
    return [sys.executable, "-m", "streamlit", "run", str(APP), *arguments, "--", *more]


def addresses() -> list[str]:
    """Return the addresses at which other machines reach this one."""
    all_addresses = (address for card in psutil.net_if_addrs().values() for address in card)
    return [
        address.address
        for address in all_addresses
        if address.family == socket.AF_INET and not is_loopback(address.address)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.production", description=__doc__)
    parser.add_argument(NO_PASSWORD, action="store_true", help="let anybody who reaches the server do all that you can")
    parser.parse_args()
    try:  # the app checks the same at its start; checked here too, a refusal is all that is printed
        access(host(), os.environ, sys.argv[1:], public())
        require_listening()
    except ValueError as error:
        sys.exit(str(error))
    if host() in WILDCARDS:
        base = options()["server.baseUrlPath"].strip("/")
        print("Others open it at", *(f"http://{address}:{port()}/{base}" for address in addresses()), flush=True)
    os.chdir(APP.parent)
    os.execve(sys.executable, command(*sys.argv[1:]), environment())


if __name__ == "__main__":
    main()
