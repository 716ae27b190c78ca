"""Paths that are answered before Streamlit: the health check, routes that are closed, and Plotly's script."""

from __future__ import annotations

import os
from pathlib import Path

import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

_PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
# The path contains Plotly's version (ui/viewer/component.py builds the same path), so a browser may cache it for good.
_IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}
RESERVED_FILES = 16  # a page holds about four


class HealthEndpoint:
    """Answers 503 at `path` when fewer than RESERVED_FILES more files can be opened; passes all else on to the app.

    Without free file descriptors no further page opens, which Streamlit's own health check does not notice.
    """

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
        for _ in range(RESERVED_FILES):
            files.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    finally:
        for file in files:
            os.close(file)
    return True


def plotly_route(base: str) -> Route:
    """Serve Plotly's script below the path `base`, which is empty or begins with a slash.

    The script comes from the package that draws the charts: nothing is copied, and nothing is loaded from another host.
    """
    return Route(f"{base}/plotly/{plotly.__version__}.js", _plotly_script)


async def _plotly_script(request: Request) -> Response:
    return FileResponse(_PLOTLY, media_type="text/javascript", headers=_IMMUTABLE)


class Closed:
    """Closes a route of Streamlit that no setting switches off.

    Answers 404, with the text `message`, at a path and everything below it; the body of a request is not read.
    """

    def __init__(self, app: ASGIApp, path: str, message: str):
        self.app, self.path, self.message = app, path, message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{self.path}/"):
            return await PlainTextResponse(self.message, 404)(scope, receive, send)
        await self.app(scope, receive, send)
