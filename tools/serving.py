"""The real app in a real browser, for the browser tests and the screenshots.

`serve` runs `streamlit run` on a free loopback port, `launch` starts the system's Chromium, `wait_until_idle` waits for
a page that has nothing more to draw.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

if TYPE_CHECKING:  # the window of its own needs none of it
    from playwright.sync_api import Browser, BrowserContext, Page, Playwright, ViewportSize

VIEWPORT: ViewportSize = {"width": 1280, "height": 720}
_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
# The address bar's pop-ups are pages that each window would load: a fourth of the processor's time to open a page.
# The last list counts, so the features that Playwright switches off for a page of this machine stand here too.
_DISABLED_FEATURES = [
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
]
# Nothing but the page under test should use the processor or the network.
_CHROMIUM_FLAGS = [
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_HEALTH = "/_stcore/health"
_OPENER = build_opener(ProxyHandler({}))  # the loopback is never behind a proxy

# True when no script runs, nothing is a placeholder, and whatever is drawn by script has been drawn.
_IDLE = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  if (!app || app.dataset.testScriptState !== "notRunning") return false;
  if (!document.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]')) return false; // not begun
  const waiting = ["stSkeleton", "stAppSkeleton", "stSpinner"].map(id => `[data-testid="${id}"]`).join();
  const chart = '[data-testid="stPlotlyChart"], .plot';
  const roots = [document], canvases = [];
  for (const root of roots) {
    for (const e of root.querySelectorAll("*")) {
      if (e.matches(waiting) || (e.matches(chart) && !e.querySelector(".main-svg"))) return false;
      if (e.shadowRoot) roots.push(e.shadowRoot);
      if (e.tagName === "CANVAS") canvases.push(e);
    }
  }
  return canvases.filter(c => c.width && c.height && c.offsetParent).every(canvas => {
    const small = new OffscreenCanvas(16, 16).getContext("2d");
    small.drawImage(canvas, 0, 0, 16, 16);
    return small.getImageData(0, 0, 16, 16).data.some((value, i) => i % 4 === 3 && value > 0);
  });
}"""
_POLL_MILLISECONDS = 50  # Playwright's poll at each frame would slow down the page that it waits for


class Process(Protocol):
    """The part of `subprocess.Popen` that is needed here."""

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


@contextmanager
def serve(
    app: Path,
    log: Path,
    seconds: float = 120,
    errors: str = "full",
    more: Mapping[str, str] | None = None,
    start: Callable[[list[str], Path, Path], Process] | None = None,
) -> Iterator[str]:
    """Run the Streamlit app and yield its address once it answers; its output goes to `log`.

    `more` are options of Streamlit that hold instead of these, but for the address. `start` starts Streamlit with these
    arguments in this folder and sends its output to this file; without it, a process of Python does.

    Raises RuntimeError with the end of the log when the app stops or does not answer in time.
    """
    port = _earlier_port() or free_port()
    options = {
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "client.showErrorDetails": errors,  # all of them, since a failing test should say which line failed
        "browser.gatherUsageStats": "false",
        **(more or {}),
        "server.port": str(port),
        "server.address": "127.0.0.1",
    }
    arguments = ["run", app.name, *(f"--{name}={value}" for name, value in options.items() if value)]
    process = (start or _start)(arguments, app.parent, log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_healthy(process, address, log, seconds)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _earlier.append(port)


def launch(playwright: Playwright) -> Browser:
    """Start the system's Chromium; RuntimeError says how to install it where there is none."""
    path = next(filter(None, map(shutil.which, _CHROMIUMS)), None)
    if path is None:
        raise RuntimeError("No Chromium found: run `make browser`, or `apt-get install chromium`.")
    return playwright.chromium.launch(executable_path=path, args=_CHROMIUM_FLAGS)


def skip_tour(context: BrowserContext) -> BrowserContext:
    """Make the context a returning visitor's: the first page does not show its tour (ui/attention/tour.py)."""
    # Some pages, such as about:blank, have no storage: asking throws.
    context.add_init_script("try { localStorage['headlight-tour'] = 'seen'; } catch {}")
    return context


def wait_until_idle(page: Page, seconds: float = 60) -> None:
    """Wait until the page's script has finished and its charts and canvases are painted."""
    page.wait_for_function(_IDLE, timeout=seconds * 1000, polling=_POLL_MILLISECONDS)
    # A rerun may start right after a drawing: idle means idle twice, some frames apart.
    page.wait_for_timeout(300)
    page.wait_for_function(_IDLE, timeout=seconds * 1000, polling=_POLL_MILLISECONDS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Ports of servers that have ended: a browser caches Streamlit's compiled scripts by their address, port included.
_earlier: list[int] = []


def _earlier_port() -> int | None:
    """Return the latest of the earlier ports that nobody else has taken since."""
    while _earlier:
        port = _earlier.pop()
        with socket.socket() as probe, suppress(OSError):
            if sys.platform != "win32":  # where it would let two servers have one port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a connection that ended is no server
            probe.bind(("127.0.0.1", port))
            return port
    return None


def _start(arguments: list[str], folder: Path, log: Path) -> Process:
    command = [sys.executable, "-m", "streamlit", *arguments]
    with log.open("wb") as output:
        return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def wait_until_healthy(process: Process, address: str, log: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            # The body counts: Streamlit answers 200 with its start page to any address that it lacks.
            with _OPENER.open(address + _HEALTH, timeout=5) as answer:
                if answer.read() == b"ok":
                    return
        except (URLError, OSError):
            pass
        time.sleep(0.1)
    reason = "did not answer in time" if process.poll() is None else f"stopped with code {process.poll()}"
    tail = os.linesep.join(log.read_text("utf-8", "replace").splitlines()[-20:])
    raise RuntimeError(f"The app {reason}. The end of its log:\n{tail}")
