"""The command `headlight`: the verbs that open and serve the app, and those of the library's command line.

headlight                        open the app in the browser
headlight class                  teach a class: serve it to the local network, for pupils' phones
headlight serve                  serve the app to others
headlight translate en-fr "..."  and all else of `python -m headlight`
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from headlight import __version__

if TYPE_CHECKING:
    from headlight.cli.checkpoints import Verb

DEFAULT_PORT = 8501
_PORTS_TO_TRY = 100
NO_PASSWORD = "--no-password"


def main() -> NoReturn:
    _use_utf8()
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):  # before torch is imported, which takes seconds
        print(f"headlight {__version__}")
        sys.exit()
    if not arguments:
        sys.argv.append("app")
    from headlight.cli.verbs import run

    run(command_line())


def _use_utf8() -> None:
    """Read and write pipes and files in UTF-8 on Windows too, whose code pages lack most languages' letters."""
    if sys.platform == "win32":
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(encoding="utf-8")


def command_line() -> argparse.ArgumentParser:
    """Return the parser of `headlight`: its own verbs, then the library's."""
    from headlight.cli.verbs import command_line

    parser = command_line("headlight", _add_verbs)
    parser.add_argument("-V", "--version", action="version", version=f"headlight {__version__}")
    return parser


def _add_verbs(verb: Verb) -> None:
    sub = verb(app, "Open the app in the browser, for this machine alone, as the command does without a verb.")
    sub.add_argument("--port", type=_port, help=f"the port; the first free one from {DEFAULT_PORT}, if absent")
    sub.add_argument("--no-browser", action="store_true", help="only print the address")

    text = "Teach a class: serve the app to the local network, with a password for you and none for pupils' phones."
    sub = verb(class_, text)
    sub.epilog = "It prints the password, the address for phones and a QR code. HEADLIGHT_PASSWORD sets the password."
    sub.add_argument("--port", type=_port, help=f"the port; the first free one from {DEFAULT_PORT}, if absent")

    sub = verb(serve, "Serve the app to others: with HEADLIGHT_PASSWORD, or HEADLIGHT_PUBLIC=1 to look at.")
    sub.add_argument("--host", help="the address to listen at, such as 0.0.0.0; HOST or 127.0.0.1, if absent")
    sub.add_argument("--port", type=_port, help=f"the port; PORT or {DEFAULT_PORT}, if absent")
    sub.add_argument(NO_PASSWORD, action="store_true", help="let anybody who reaches the server do all that you can")

    verb(desktop, "Open the app in a window of its own.")

    verb(doctor, "Say what is installed, and whether the models that ship open and translate: to paste into an issue.")

    sub = verb(completion, "Print the shell completion script of this command.")
    sub.epilog = 'For bash: eval "$(headlight completion bash)", at the end of ~/.bashrc.'
    sub.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _port(text: str) -> int:
    from transformer.quoting import quoted

    if not (text.isdecimal() and 0 < int(text) < 2**16):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a port; give a number from 1 to {2**16 - 1}")
    return int(text)


def app(options: argparse.Namespace) -> NoReturn:
    port = _port_for("127.0.0.1", options.port)
    flags = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    _in_the_app("streamlit", "run", str(_app() / "app.py"), *flags, *["--server.headless=true"] * options.no_browser)


def class_(options: argparse.Namespace) -> NoReturn:
    os.environ["PORT"] = str(_port_for("0.0.0.0", options.port))
    _in_the_app("tools.serve_class")


def serve(options: argparse.Namespace) -> NoReturn:
    variables = {"HOST": options.host, "PORT": options.port}
    os.environ |= {name: str(value) for name, value in variables.items() if value is not None}
    _in_the_app("tools.production", *[NO_PASSWORD] * options.no_password)


def desktop(options: argparse.Namespace) -> NoReturn:
    _in_the_app("tools.desktop")


def doctor(options: argparse.Namespace) -> int:
    from headlight.cli.doctor import report

    return 0 if all([print(line) or fine for line, fine in report()]) else 1


def completion(options: argparse.Namespace) -> None:
    import shtab

    print(shtab.complete(command_line(), options.shell))


def _app() -> Path:
    from headlight import folders

    return folders.APP


def _in_the_app(module: str, *arguments: str) -> NoReturn:
    """Replace this process by `python -m module` in the same folder, with the app's folder instead on the import path.

    Raises MissingPackageError where Streamlit, which takes long to import, is not installed.
    """
    if find_spec("streamlit") is None:
        from transformer.extras import require_package

        require_package("streamlit", "The app", "app")
    path = os.pathsep.join(filter(None, (str(_app()), os.environ.get("PYTHONPATH"))))
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-P", "-m", module, *arguments], {**os.environ, "PYTHONPATH": path})


def _port_for(host: str, requested: int | None) -> int:
    """Return the requested port, or the first free one. Raises ValueError where it is in use, or no port is free."""
    if requested:
        if not _is_free(host, requested):
            raise ValueError(f"Port {requested} is in use; give another, or none, and the first free one is taken.")
        return requested
    port = next((port for port in range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TO_TRY) if _is_free(host, port)), None)
    if port is None:
        raise ValueError(
            f"None of the ports {DEFAULT_PORT} to {DEFAULT_PORT + _PORTS_TO_TRY - 1} is free; give one with --port."
        )
    return port


def _is_free(host: str, port: int) -> bool:
    """Return whether the port is free, at `host` and on the loopback interface."""
    for address in {host, "127.0.0.1"}:
        with socket.socket() as probe:
            if sys.platform != "win32":  # on Windows, the option would let two servers share a port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was just closed is free
            try:
                probe.bind((address, port))
            except OSError:
                return False
    return True
