"""The real server, asked as an attacker asks: by forged names, from other sites, without the password."""

import asyncio
import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import psutil
import pytest
from streamlit import App, cli_util, config
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from server import open_browser
from tests.forked import serve_forked
from tools import healthy
from tools.serving import free_port, wait_until_healthy

pytestmark = pytest.mark.slow  # starts the server for real
ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a good long password"
# Writes down every address that the process turns to which is not its own machine's.
WATCH = """
import os, sys
def watch(event, arguments, path=os.environ["WATCHED"]):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        given = arguments[0] if event.startswith("socket.get") else arguments[1]
        name = given[0] if isinstance(given, tuple) else given
        if name not in (None, "", "localhost", "127.0.0.1", "::1", b"localhost", "0.0.0.0"):
            with open(path, "a") as file:
                print(event, given, file=file)
sys.addaudithook(watch)
"""


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.headers, self.body = response.status, response.headers, response.read()


def ask(url: str, path: str = "/", method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
    """A request as given: `host` and `origin` say whatever one likes."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host="host" in headers)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def websocket(url: str, host: str = "127.0.0.1", origin: str | None = None, cookie: str = "") -> int:
    """The status with which a websocket opens (101) or is refused."""
    port = urlsplit(url).port

    async def attempt() -> int:
        try:
            async with connect(
                f"ws://{host}:{port}/_stcore/stream",
                host="127.0.0.1",
                port=port,
                origin=Origin(origin) if origin else None,
                additional_headers={"Cookie": cookie} if cookie else None,
                subprotocols=[Subprotocol("streamlit")],
                proxy=None,
            ):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    return asyncio.run(attempt())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server as `make run` does."""
    with serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("run") / "log.txt") as address:
        yield address


@contextmanager
def production(log: Path, *arguments: str, **environment: str) -> Iterator[tuple[str, psutil.Process]]:
    """Start the server as `make serve` does, for visitors from the network."""
    port = str(free_port())
    with log.open("wb") as output:
        process = psutil.Popen(
            [sys.executable, "-m", "tools.production", *arguments],
            env={**os.environ, "HOST": "0.0.0.0", "PORT": port, **environment},
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(process, url, log, 60)
        yield url, process
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it is written down what the locked server turns to outside."""
    return tmp_path_factory.mktemp("watched") / "watched.txt"


@pytest.fixture(scope="module")
def locked(watched: Path) -> Iterator[str]:
    """For others, with a password."""
    folder = watched.parent
    (folder / "sitecustomize.py").write_text(WATCH)
    environment = {"HEADLIGHT_PASSWORD": PASSWORD, "PYTHONPATH": str(folder), "WATCHED": str(watched)}
    with production(folder / "log.txt", **environment) as (address, _):
        yield address


def _cookie(url: str) -> str:
    """Return the cookie that the server sends after the right password."""
    body = urlencode({"password": PASSWORD}).encode()
    answer = ask(url, "/?a=1", "POST", body, content_type="application/x-www-form-urlencoded", accept="text/html")
    assert (answer.status, answer.headers["location"]) == (303, "?a=1")
    ((name, morsel),) = SimpleCookie(answer.headers["set-cookie"]).items()
    return f"{name}={morsel.value}"


# ---- names and origins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", "192.0.2.1"])
@pytest.mark.parametrize("path", ["/", "/_stcore/host-config", "/_stcore/health", "/_stcore/upload_file/a/b"])
def test_a_forged_name_is_refused(url: str, host: str, path: str) -> None:
    answer = ask(url, path, host=host)
    assert answer.status == 403 and b"HEADLIGHT_HOSTS" in answer.body


def test_a_name_rebound_to_this_machine_is_refused(url: str) -> None:
    """Host and Origin agree, as a browser says them whose page believes to be at home."""
    port = urlsplit(url).port
    assert websocket(url, "evil.example", f"http://evil.example:{port}") == 403
    assert websocket(url, "127.0.0.1", "http://evil.example") == 403
    assert websocket(url, "127.0.0.1", f"http://localhost:{port}") == 403
    assert websocket(url, "127.0.0.1", f"http://127.0.0.1:{port}") == 101
    assert websocket(url, "localhost", f"http://localhost:{port}") == 101
    assert websocket(url, "127.0.0.1") == 101


def test_an_upload_from_another_site_is_refused(url: str) -> None:
    answer = ask(url, "/_stcore/upload_file/a/b", "PUT", b"x", origin="http://evil.example")
    assert answer.status == 403 and b"A page from 'http://evil.example'" in answer.body


def test_where_others_come_addresses_are_answered_and_names_are_not(locked: str) -> None:
    assert ask(locked, "/_stcore/health", host="192.0.2.1:8501").status == 200
    assert ask(locked, "/_stcore/health", host="evil.example").status == 403
    assert websocket(locked, "evil.example", None, _cookie(locked)) == 403


# ---- what every answer says, and what none does --------------------------------------------------------------------


def test_every_answer_says_what_a_page_may_load(url: str, locked: str) -> None:
    for answer in (ask(url), ask(url, host="evil.example"), ask(url, "/_stcore/health"), ask(locked)):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'self'" in policy and "object-src 'none'" in policy
        assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]
        assert "'unsafe-eval'" not in policy and "*" not in policy
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics?families=a", "/_stcore/metrics/"])
def test_metrics_are_off(url: str, path: str) -> None:
    answer = ask(url, path)
    assert answer.status == 404 and b"HEADLIGHT_METRICS=1" in answer.body


def test_a_public_server_that_streamlit_started_takes_no_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has Streamlit's own limit, as after `HEADLIGHT_PUBLIC=1 streamlit run app.py`."""
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    with serve_forked(ROOT / "app.py", tmp_path / "log.txt") as url:
        for method in ("PUT", "DELETE", "OPTIONS"):
            answer = ask(url, "/_stcore/upload_file/session/file", method, b"x" * 1000)
            assert answer.status == 404 and b"uploads are switched off" in answer.body
        assert ask(url, "/_stcore/health").body == b"ok"


def test_nothing_is_asked_of_the_internet(locked: str, watched: Path) -> None:
    """Streamlit asks a service for its own address, to print it, and for each visitor from an origin that it lacks."""
    for origin in ("http://evil.example", "http://192.0.2.1:8501"):
        ask(locked, origin=origin)
        websocket(locked, origin=origin)
        websocket(locked, origin=origin, cookie=f"{'a' * 9}=b")
    assert not watched.exists(), watched.read_text()
    watched.write_text("")  # that it would have been written down
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"
    environment = {**os.environ, "PYTHONPATH": str(watched.parent), "WATCHED": str(watched)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert "192.0.2.1" in watched.read_text()


# ---- files ---------------------------------------------------------------------------------------------------------


def test_the_fonts_that_the_theme_names_are_served_and_nothing_beside_them(url: str) -> None:
    """Streamlit serves the folder static/ beside the script that a session runs, which is ui/navigation.py."""
    theme = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    fonts = [line.split('"')[1] for line in theme.splitlines() if line.startswith("url = ")]
    assert len(fonts) == 3
    assert all(ask(url, f"/{font}").body.startswith(b"wOF2") for font in fonts)
    assert b"st.navigation" not in ask(url, "/app/static/..%2fnavigation.py").body


# ---- the password --------------------------------------------------------------------------------------------------


def test_nothing_is_answered_without_the_password(locked: str) -> None:
    page = ask(locked, accept="text/html")
    assert page.status == 401 and b'type="password"' in page.body
    for path in ("/static/js/none.js", "/_stcore/host-config", "/app/static/x", "/component/a/b", "/favicon.png"):
        answer = ask(locked, path)
        assert answer.status == 401 and b"requires a password" in answer.body
    assert websocket(locked) == 401
    assert ask(locked, "/_stcore/metrics").status in (401, 404)


def test_uploads_and_downloads_are_for_who_gave_it(locked: str) -> None:
    known = _cookie(locked)

    assert ask(locked, "/media/none.csv").status == 401
    assert ask(locked, "/media/none.csv", cookie=known).status == 404  # Streamlit's own answer, as the last one below
    for method in ("PUT", "POST", "DELETE", "OPTIONS"):
        assert ask(locked, "/_stcore/upload_file/a/b", method, b"x").status == 401
    assert ask(locked, "/_stcore/upload_file/a/b", "OPTIONS", cookie=known).status == 204


def test_the_health_check_knows_the_password(locked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_PASSWORD", raising=False)
    assert "401" in str(asyncio.run(healthy.problem(locked)))
    monkeypatch.setenv("HEADLIGHT_PASSWORD", PASSWORD)
    assert asyncio.run(healthy.problem(locked)) is None


def test_behind_a_proxy_each_visitor_has_an_own_limit(locked: str) -> None:
    """nginx on this machine says who asks; without that, one who guesses would keep out everybody."""

    def guess(address: str, password: str = "wrong") -> int:
        body = urlencode({"password": password}).encode()
        kind = "application/x-www-form-urlencoded"
        return ask(locked, "/", "POST", body, content_type=kind, x_forwarded_for=f"9.9.9.9, {address}").status

    assert [guess("198.51.100.1") for _ in range(21)] == 20 * [401] + [429]
    assert guess("198.51.100.2", PASSWORD) == 303


# ---- the start -----------------------------------------------------------------------------------------------------


def test_it_refuses_to_start_for_others_without_a_word(tmp_path: Path) -> None:
    by_hand = ["streamlit", "run", "app.py", "--server.address=0.0.0.0", f"--server.port={free_port()}"]
    for command in (["tools.production"], [*by_hand, "--server.headless=true"]):
        environment = {**os.environ, "HOST": "0.0.0.0", "PORT": str(free_port())}
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1
        assert re.search(r"HEADLIGHT_PASSWORD.*HEADLIGHT_PUBLIC=1.*--no-password", done.stderr)
        assert "Traceback" not in done.stderr


def test_no_password_is_typed_out(tmp_path: Path) -> None:
    with production(tmp_path / "log.txt", "--no-password") as (url, process):
        assert ask(url).status == 200 and ask(url, host="evil.example").status == 403
        assert websocket(url) == 101
        assert {c.laddr.ip for c in process.net_connections() if c.status == "LISTEN"} == {"0.0.0.0"}


def test_run_listens_to_this_machine_alone(tmp_path: Path) -> None:
    """The command line names no address, as in `make run`."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.headless=true"]
    process = psutil.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        addresses: set[str] = set()
        for _ in range(300):
            addresses = {c.laddr.ip for c in process.net_connections() if c.status == "LISTEN"}
            if addresses:
                break
            time.sleep(0.1)
        assert addresses == {"127.0.0.1"}
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize("headless", [True, False])
def test_the_browser_opens_as_it_starts_unless_nobody_sits_there(
    headless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    options = {"server.headless": headless, "browser.serverAddress": "localhost", "browser.serverPort": 8511}
    monkeypatch.setattr(config, "get_option", lambda name: options.get(name, ""))
    monkeypatch.setattr(cli_util, "open_browser", opened.append)

    async def start() -> None:
        async with open_browser(App(ROOT / "ui" / "navigation.py")):
            assert opened == ([] if headless else ["http://localhost:8511"])

    asyncio.run(start())
