"""The rights of this process: those of its user, unless it was confined as a public server.

A notebook and the command line are never confined. A public server may only read models, runs and corpora in some
folders. Functions that open a file by name, use the network, start a process, or create or delete user data check here
themselves, whichever page, widget or address led to them. An audit hook also stops other libraries from starting
processes or opening connections. The library itself makes two exceptions: `allow_command` for one command, and
`allow_network` for the connection to the store of classes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import local
from typing import Any

REFUSAL = (
    "This is a public demonstration: its models can be looked at, but nothing can be imported, trained or deleted."
)

# Names of Python's audit events.
_PROCESS_EVENTS = {
    "subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.startfile", "os.system",
}  # fmt: skip
_NETWORK_EVENTS = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}

_folders: tuple[Path, ...] | None = None  # None: not confined
_watched = False
# Exceptions for this thread: the `command` that it may start, and whether it may use the `network`.
_allowed = local()


def confine(folders: Iterable[str | Path]) -> None:
    """Confine this process: it may read only these folders, start no process, open no connection, change no user data.

    Caches of computed results, such as `runs/.heads`, may still be written.
    """
    global _folders, _watched
    _folders = tuple(Path(os.path.realpath(folder)) for folder in folders)
    if not _watched:
        _watched = True
        sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if _folders is None or (event not in _PROCESS_EVENTS and event not in _NETWORK_EVENTS):
        return
    if event in _NETWORK_EVENTS and getattr(_allowed, "network", False):
        return
    if event != "subprocess.Popen" or args[:2] != getattr(_allowed, "command", None):
        raise PermissionError(REFUSAL)


@contextmanager
def allow_command(command: Sequence[str]) -> Iterator[None]:
    """Let this thread start exactly this command while the process is confined.

    Only for commands that protect the process, never with input from a visitor.
    """
    _allowed.command = command[0], list(command)  # the arguments of the audit event
    try:
        yield
    finally:
        del _allowed.command


@contextmanager
def allow_network() -> Iterator[None]:
    """Let this thread open connections while the process is confined.

    Only for addresses from the settings, never from a visitor.
    """
    _allowed.network = True
    try:
        yield
    finally:
        _allowed.network = False


def is_confined() -> bool:
    """Return whether this process was confined."""
    return _folders is not None


def require_private() -> None:
    """Raise ValueError in a confined process."""
    if _folders is not None:
        raise ValueError(REFUSAL)


def require_readable(path: str | Path) -> None:
    """Raise ValueError if the process is confined and the file, with links resolved, is outside its folders.

    The message is the same whether the file exists or not.
    """
    if _folders is None:
        return
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(folder) for folder in _folders):
        raise ValueError(REFUSAL)
