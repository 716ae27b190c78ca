"""The app on the folders of a test, a folder as a web server serves it, and published files that are damaged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.forked import serve_forked
from tools.serving import wait_until_idle

ROOT = Path(__file__).parents[2]


@contextmanager
def serve_app(log: Path, **folders: Path) -> Iterator[str]:
    """Serve the app with `checkpoints`, `models` or `runs` in these folders; yield its address."""
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in folders.items():
            patch.setenv(f"HEADLIGHT_{name.upper()}", str(folder))
        with serve_forked(ROOT / "app.py", log) as address:
            yield address


def open_page(page: Page, address: str, heading: str, exact: bool = False) -> Page:
    """Open an address and wait until the page has this heading and nothing more to run."""
    page.goto(address)
    page.get_by_role("heading", name=heading, exact=exact).wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder as `python -m http.server` does; yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def open_damaged(browser: Browser, file: Path, model: str, at: int, copy: Path, address: str = "") -> Iterator[Page]:
    """Open a copy of a published file in which 200 characters of a model, from character `at` on, are others."""
    page = file.read_text("utf-8")
    start = page.index(f'id="{model}">') + at
    copy.write_text(page[:start] + "AAAA" * 50 + page[start + 200 :], "utf-8")
    context = browser.new_context(offline=True)
    tab = context.new_page()
    tab.goto(copy.as_uri() + address)
    yield tab
    context.close()
