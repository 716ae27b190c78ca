"""What this process may do for those who ask it: all that its user may, unless it was confined.

A notebook and the command line are never confined. A server that strangers reach is, to looking at what lies in some
folders. Whatever opens a file by its name, reaches a network, starts a process, or makes or removes something of the
user's asks here itself: it does not matter which page, widget or address led to it. That nothing is started or reached
by other libraries either, Python itself sees to. One command of the library's own is let through, by `starting`, and
the connection to the store of classes, by `reaching`.
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

# As Python's audit events are called.
_STARTS = {"subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.startfile", "os.system"}
_REACHES = {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}

_folders: tuple[Path, ...] | None = None  # None: not confined
_watched = False
# What this thread does for the library itself: `command` is about to be started, `reaches` lets it open a connection.
_own = local()


def confine(folders: Iterable[str | Path]) -> None:
    """From now on this process reads models, runs and corpora in these folders alone, and neither starts, reaches nor
    changes anything of the user's. What was computed may still be kept for the next who asks, as in `runs/.heads`."""
    global _folders, _watched
    _folders = tuple(Path(os.path.realpath(folder)) for folder in folders)
    if not _watched:
        _watched = True
        sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if _folders is None or (event not in _STARTS and event not in _REACHES):
        return
    if event in _REACHES and getattr(_own, "reaches", False):
        return
    if event != "subprocess.Popen" or args[:2] != getattr(_own, "command", None):
        raise PermissionError(REFUSAL)


@contextmanager
def starting(command: Sequence[str]) -> Iterator[None]:
    """Within it, this thread may start this command, to the letter, although the process is confined.

    Only for what protects the process itself, with a command that no visitor has a part in.
    """
    _own.command = command[0], list(command)  # the program and its arguments, as Python tells of them
    try:
        yield
    finally:
        del _own.command


@contextmanager
def reaching() -> Iterator[None]:
    """Within it, this thread may open a connection, although the process is confined.

    Only to an address from the settings, which no visitor has a part in.
    """
    _own.reaches = True
    try:
        yield
    finally:
        _own.reaches = False


def confined() -> bool:
    return _folders is not None


def require_private() -> None:
    """Raises ValueError in a process that is confined."""
    if _folders is not None:
        raise ValueError(REFUSAL)


def require_readable(path: str | Path) -> None:
    """Raises ValueError where the file, at the end of all links, lies outside the folders of a process that is
    confined. The words are the same whether it exists or not."""
    if _folders is None:
        return
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(folder) for folder in _folders):
        raise ValueError(REFUSAL)
