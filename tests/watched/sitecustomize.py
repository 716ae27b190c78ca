"""Python runs this first in every process that has this folder in PYTHONPATH: it writes down what the process opens,
starts, reaches and changes, one JSON list a line, into the file that HEADLIGHT_WATCHED names."""

import json
import os
import sys

EVENTS = {
    *("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.link"),
    *("os.symlink", "os.truncate", "os.utime", "shutil.copyfile", "shutil.move", "shutil.rmtree"),
    *("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "pty.spawn"),
    *("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"),
    *("http.client.connect", "ftplib.connect", "smtplib.connect", "import_from_path"),
}
_file = os.open(os.environ["HEADLIGHT_WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _write(event: str, *args: object) -> None:
    os.write(
        _file,
        (json.dumps([event, *(os.fsdecode(a) if isinstance(a, bytes) else str(a) for a in args)]) + "\n").encode(),
    )


_others: list = []  # of the program under test


def _watch(event: str, args: tuple) -> None:
    for hook in _others:  # what one of them refuses is not done
        hook(event, args)
    if event in EVENTS:
        _write(event, *args[:2])


def _noted(name: str) -> None:
    """Whether a file is there is no audit event, but may be a secret too."""
    real, secret = getattr(os, name), os.environ["HEADLIGHT_SECRET"]

    def noted(path, *args, **options):  # type: ignore[no-untyped-def]
        if isinstance(path, str | os.PathLike) and secret in os.fspath(path):
            _write(f"os.{name}", path)
        return real(path, *args, **options)

    setattr(os, name, noted)


for name in ("stat", "lstat", "readlink"):
    _noted(name)
sys.addaudithook(_watch)
sys.addaudithook = _others.append
