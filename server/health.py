"""The health check says so where no further page could be opened, which Streamlit's own does not notice."""

from __future__ import annotations

import os

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

SPARE_FILES = 16  # a page holds about four


class Health:
    """Answers 503 at `path` where fewer than SPARE_FILES more files can be opened; all else goes on to the app."""

    def __init__(self, app: ASGIApp, path: str):
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self.path or _has_spare_files():
            return await self.app(scope, receive, send)
        message = "Too many files are open: this server can open no further page. Raise its limit (ulimit -n)."
        await PlainTextResponse(message, 503)(scope, receive, send)


def _has_spare_files() -> bool:
    files: list[int] = []
    try:
        for _ in range(SPARE_FILES):
            files.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    finally:
        for file in files:
            os.close(file)
    return True
