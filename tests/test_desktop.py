"""The app in a window of its own: the server starts and stops with the window."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import psutil
import pytest
from websockets.sync.client import connect

from tools import desktop

ROOT = Path(__file__).resolve().parents[1]
_OPENER = build_opener(ProxyHandler({}))


def test_without_a_browser_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(ValueError, match="install one, or open the app in yours: `headlight`"):
        desktop.browser()


@pytest.mark.browser
def test_the_server_lives_as_long_as_its_window() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"--headless=new --disable-gpu --remote-debugging-port={port}"
    app = subprocess.Popen(
        [sys.executable, "-m", "tools.desktop"], cwd=ROOT, env={**os.environ, "HEADLIGHT_BROWSER_OPTIONS": options}
    )
    try:
        window = _window(f"http://127.0.0.1:{port}")
        ours = psutil.Process(app.pid).children(recursive=True)
        assert _OPENER.open(f"{window['url']}_stcore/health").read() == b"ok"
        _close(f"http://127.0.0.1:{port}")
        assert app.wait(30) == 0
        _, left = psutil.wait_procs(ours, 5)
        assert left == []
        with pytest.raises(URLError):
            _OPENER.open(f"{window['url']}_stcore/health")
    finally:
        for process in [*psutil.Process(app.pid).children(recursive=True), app] if app.poll() is None else []:
            process.kill()


def _close(browser: str) -> None:
    """Close the browser as closing its window does; a headless browser would outlive its last page."""
    with connect(json.load(_OPENER.open(f"{browser}/json/version"))["webSocketDebuggerUrl"], proxy=None) as socket:
        socket.send(json.dumps({"id": 1, "method": "Browser.close"}))


def _window(browser: str, seconds: float = 60) -> dict[str, Any]:
    """The page that the browser shows."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            pages = json.load(_OPENER.open(f"{browser}/json"))
        except OSError:
            pages = []
        for page in pages:
            if page["type"] == "page" and page["url"].startswith("http"):
                return dict(page)
        time.sleep(0.1)
    raise AssertionError("no window came up")
