"""Access control before Streamlit: host names, pupils, the password, and response headers.

Nothing here knows models or pages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import App, cli_util, config
from streamlit.web.server import server_util

from server import endpoints
from server.access import Access, access
from server.attempts import Attempts
from server.classroom.routes import Classroom
from server.endpoints import Closed, HealthEndpoint
from server.headers import Headers
from server.hosts import Hosts
from server.login import Login
from server.owner import Owner
from server.page import ScriptInjection


def guards(public: bool) -> list[Middleware]:
    """Return the middleware that a request passes before Streamlit, outermost first.

    Ends the process with an error message where the settings contradict each other or would let anybody in.
    """
    try:
        settings = access(config.get_option("server.address") or "0.0.0.0", os.environ, sys.argv[1:], public)
        return _guards(settings, public)
    except ValueError as error:
        sys.exit(str(error))


def _guards(settings: Access, public: bool) -> list[Middleware]:
    base = _base()
    guards = [
        Middleware(Headers, ancestors=os.environ.get("HEADLIGHT_FRAME_ANCESTORS", "")),
        Middleware(Hosts, access=settings),
    ]
    if settings.is_local_only:
        guards.append(Middleware(Owner))
    guards.append(Middleware(HealthEndpoint, path=f"{base}/_stcore/health"))
    if os.environ.get("HEADLIGHT_METRICS", "") in ("", "0"):
        message = "Metrics are switched off: set HEADLIGHT_METRICS=1 to serve them."
        guards.append(Middleware(Closed, path=f"{base}/_stcore/metrics", message=message))
    message = "The interface for agents is switched off."
    guards.append(Middleware(Closed, path=f"{base}/_stcore/agent", message=message))
    if public:  # any session could fill the memory with files, even if no page offers an upload
        message = "This is a public demonstration: uploads are switched off."
        guards.append(Middleware(Closed, path=f"{base}/_stcore/upload_file", message=message))
    guards.append(Middleware(Classroom, base=base, attempts=Attempts()))  # pupils have no password
    if settings.password:
        guards.append(Middleware(Login, password=settings.password, base=base))
    return [*guards, Middleware(ScriptInjection)]


def routes() -> list[Route]:
    """Return the routes that are served in addition to Streamlit's own, behind the same guards."""
    return [endpoints.plotly_route(_base())]


def _base() -> str:
    """Return the path that all addresses begin with: empty, or "/path" without a slash at its end."""
    base = str(config.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""


@asynccontextmanager
async def open_browser(app: App) -> AsyncIterator[None]:
    """Open the app in the browser as it starts, as Streamlit does for a plain script."""
    if not config.get_option("server.headless"):
        cli_util.open_browser(server_util.get_url(config.get_option("browser.serverAddress")))
    yield
