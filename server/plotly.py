"""Plotly's own script, from the package that draws the charts: nothing is copied, and nothing asked of another host."""

from __future__ import annotations

from pathlib import Path

import plotly
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

_FILE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
# The version is in the name (ui/viewer/plot.py says it too), so a browser need not ask again.
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


def route(base: str) -> Route:
    """Serves it below the path `base`, which is empty or begins with a slash."""
    return Route(f"{base}/plotly/{plotly.__version__}.js", _script)


async def _script(request: Request) -> Response:
    return FileResponse(_FILE, media_type="text/javascript", headers=_KEPT)
