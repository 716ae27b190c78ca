"""Every route of the running server has a stated rule, for whoever asks: a route that is new fails until it has one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from server.login import COOKIE, cookie
from tests.forked import serve_forked

pytestmark = pytest.mark.slow  # starts three servers
ROOT = Path(__file__).parents[2]
PASSWORD = "a long password"
# What a route is for: for the health check of whoever runs the server, for users of the app, for pupils; or for nobody.
EVERYONE, USERS, PUPILS, NOBODY = "everyone", "users", "pupils", "nobody"
RULES = {
    "/_stcore/health": EVERYONE,
    "/sign-out": EVERYONE,
    "/_stcore/metrics": NOBODY,  # without HEADLIGHT_METRICS=1
    "/_stcore/host-config": USERS,
    "/_stcore/upload_file/{session_id}/{file_id}": USERS,  # but nobody of a public server
    "/_stcore/bidi-components/{path:path}": USERS,
    "/_stcore/stream": USERS,
    "/media/{file_id:path}": USERS,
    "/component/{path:path}": USERS,
    "/app/static/{path:path}": USERS,
    "/plotly/{version}.js": USERS,
    "/{path}": USERS,  # Streamlit's own files
    # Streamlit's login by other services and its API for agents, neither of which is configured.
    "/auth/login": NOBODY,
    "/auth/logout": NOBODY,
    "/oauth2callback": NOBODY,
    "/_stcore/agent/interact": NOBODY,
    "/_stcore/agent/openapi.json": NOBODY,
    "/_stcore/agent/mcp": NOBODY,
    "/join": PUPILS,
    "/join/me": PUPILS,
    "/join/stream": PUPILS,
    "/join/answer": PUPILS,
    "/join/picture": PUPILS,
    "/join/{name}": PUPILS,
}
ENUMERATE = """
import json, os, sys
sys.argv = ["app.py"]
from streamlit import config
config.set_option("server.address", "127.0.0.1")
import app
from server.classroom.routes import Classroom
from server.attempts import Attempts
from starlette.routing import WebSocketRoute

def walk(routes, before=""):
    for route in routes:
        path = before + route.path
        if getattr(route, "routes", None):
            yield from walk(route.routes, path)
        else:
            usual = ["WEBSOCKET"] if isinstance(route, WebSocketRoute) else ["GET"]
            yield path or "/{path}", sorted(getattr(route, "methods", None) or usual)

served = app.app._build_starlette_app()
pupils = Classroom(served, Attempts()).router.routes
print(json.dumps([*walk(served.routes), *walk(pupils)]))
sys.stdout.flush()
os._exit(0)
"""


class Live(NamedTuple):
    path: str
    method: str

    @property
    def rule(self) -> str:
        return RULES[re.sub(r"/plotly/[\d.]+\.js", "/plotly/{version}.js", self.path)]

    @property
    def concrete_path(self) -> str:
        """An address of the route, whose parts name nothing."""
        return re.sub(r"\{[^}]*\}", "nothing", self.path)


@pytest.fixture(scope="module")
def live() -> list[Live]:
    listed = subprocess.run([sys.executable, "-c", ENUMERATE], capture_output=True, text=True, check=True, cwd=ROOT)
    return [Live(path, method) for path, methods in json.loads(listed.stdout.splitlines()[-1]) for method in methods]


def test_every_route_has_a_rule(live: list[Live]) -> None:
    assert len(live) > 40
    known = {re.sub(r"/plotly/[\d.]+\.js", "/plotly/{version}.js", route.path) for route in live}
    assert sorted(known - RULES.keys()) == [], "say in RULES whom these routes are for"
    assert sorted(RULES.keys() - known - {"/sign-out"}) == [], "these are no routes any more"


def status(url: str, method: str, path: str, **headers: str) -> int:
    """Return the status of an answer; a websocket is requested as browsers do."""
    request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if method == "WEBSOCKET":
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        method, request_headers = "GET", {**upgrade, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", **request_headers}
    connection = HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request(method, path, headers=request_headers)
    answered = connection.getresponse().status
    connection.close()
    return answered


@pytest.fixture(scope="module", params=["alone", "password", "public"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Return the address of the server, and how the server was started."""
    folder = tmp_path_factory.mktemp(request.param)
    settings = {"alone": {}, "password": {"HEADLIGHT_PASSWORD": PASSWORD}, "public": {"HEADLIGHT_PUBLIC": "1"}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_RUNS", str(folder / "runs"))
        for name in ("PASSWORD", "PUBLIC", "METRICS"):
            patch.delenv(f"HEADLIGHT_{name}", raising=False)
        for name, value in settings[request.param].items():
            patch.setenv(name, value)
        with serve_forked(ROOT / "app.py", folder / "log.txt") as url:
            yield url, request.param


def test_another_sites_name_reaches_nothing(server: tuple[str, str], live: list[Live]) -> None:
    url, _ = server
    for route in live:
        assert status(url, route.method, route.concrete_path, Host="evil.example") == 403, route
        host = urlsplit(url).netloc
        assert status(url, route.method, route.concrete_path, Host=host, Origin="http://evil.example") == 403, route


def test_each_route_is_for_whom_its_rule_says(server: tuple[str, str], live: list[Live]) -> None:
    url, mode = server
    visitors = {"nobody": {}, "a pupil": {"Cookie": "headlight_pupil=12345678.x"}}
    visitors["a forger"] = {"Cookie": f"{COOKIE}=in.xxxx.yyyy"}
    if mode == "password":
        visitors["a user"] = {"Cookie": cookie(PASSWORD)}
    for who, headers in visitors.items():
        inside = mode != "password" or who == "a user"
        for route in live:
            answered = status(url, route.method, route.concrete_path, **headers)
            context = (who, route, answered)
            assert answered < 500, context
            if route.rule == EVERYONE:
                assert answered < 400, context
            elif route.rule == PUPILS:  # none of these has a class: they get the page, or are refused
                assert answered == 200 if route.path in ("/join", "/join/me") and route.method == "GET" else True, (
                    context
                )
                assert answered >= 400 or route.path in ("/join", "/join/me"), context
            elif route.rule == NOBODY:
                assert answered >= 300 or (inside and route.method == "OPTIONS"), context
            elif mode == "public" and "upload_file" in route.path:
                assert answered == 404, context
            elif not inside:
                assert answered == 401, context
            else:  # an upload without a token of its page is refused too
                assert answered != 401 and (answered != 403 or "upload_file" in route.path), context
