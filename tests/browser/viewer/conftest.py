"""The viewer's components alone: a small app that shows them, and the patterns that it shows.

The browser is the one of all browser tests: two in one session would fight over the event loop.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.forked import serve_forked

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.fixture(scope="session")
def viewer_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo app with the colours of the real one."""
    folder = tmp_path_factory.mktemp("viewer")
    shutil.copytree(ROOT / ".streamlit", folder / ".streamlit")
    shutil.copy(HERE / "demo.py", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with serve_forked(folder / "demo.py", folder / "log.txt") as address:
            yield address


@pytest.fixture
def opened(viewer_url: str) -> Callable[..., Page]:
    """`opened(page, case="cross", plotly=1)`: the demo page, drawn."""

    def open_case(page: Page, **query: object) -> Page:
        page.set_default_timeout(120_000)
        page.goto(f"{viewer_url}/?" + "&".join(f"{name}={value}" for name, value in query.items()))
        page.get_by_text("heads [").wait_for()
        page.locator(".thumb[aria-selected=true]").wait_for()
        page.locator(".side.left .token").first.wait_for()
        return page

    return open_case
