"""Python runs this first in every process that has this folder in PYTHONPATH: what Windows lacks or refuses is gone.

Modules of POSIX cannot be imported by this project's code, msvcrt can, and files behave as on Windows: no links without
a privilege, no open folders, no flush of what is open for reading, no rename over a folder. Other packages, and the
standard library, stay those of this system, so paths, processes and sockets do, too.
"""

import builtins
import errno
import fcntl
import os
import sys
from types import ModuleType

OURS = {"app", "headlight", "pages", "server", "tools", "transformer", "ui"}
MODULES = {"fcntl", "grp", "pwd", "resource", "termios", "uvloop"}
FUNCTIONS = ("fork", "forkpty", "killpg", "mkfifo", "sched_getaffinity", "setpriority", "setsid")
_import = builtins.__import__
_open, _fsync, _rename, _replace = os.open, os.fsync, os.rename, os.replace

msvcrt = ModuleType("msvcrt")
msvcrt.LK_UNLCK, msvcrt.LK_NBLCK = 0, 2  # type: ignore[attr-defined]


def _locking(file: int, mode: int, count: int) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN)
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None


msvcrt.locking = _locking  # type: ignore[attr-defined]


def _is_ours(names: dict) -> bool:  # type: ignore[type-arg]
    module = names.get("__name__") or ""
    return (names.get("__package__") or "" if module == "__main__" else module).partition(".")[0] in OURS


def _import_there(name, globals=None, locals=None, fromlist=(), level=0):  # type: ignore[no-untyped-def]
    if level == 0 and (name == "uvloop" or _is_ours(globals or {})):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name == "msvcrt":
            return msvcrt
    return _import(name, globals, locals, fromlist, level)


def _open_there(path, flags, *args, **options):  # type: ignore[no-untyped-def]
    if _is_ours(sys._getframe(1).f_globals) and os.path.isdir(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return _open(path, flags, *args, **options)


def _fsync_there(file: int) -> None:
    if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    _fsync(file)


def _over_no_folder(move):  # type: ignore[no-untyped-def]
    def moved(source, target, **options):  # type: ignore[no-untyped-def]
        if os.path.isdir(target):
            raise PermissionError(errno.EACCES, "Access is denied", source, None, target)
        return move(source, target, **options)

    return moved


def _symlink_there(source, target, target_is_directory=False, **options):  # type: ignore[no-untyped-def]
    raise OSError(errno.EINVAL, "A required privilege is not held by the client", source, None, target)


builtins.__import__ = _import_there
os.open, os.fsync, os.symlink = _open_there, _fsync_there, _symlink_there
os.rename, os.replace = _over_no_folder(_rename), _over_no_folder(_replace)
for name in FUNCTIONS:
    delattr(os, name)
del os.O_NONBLOCK
