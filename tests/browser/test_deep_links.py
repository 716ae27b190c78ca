"""A link to a page, followed as the very first request of a server, opens the whole page and nothing else.

tests/server/test_first_request.py runs the other pages without a browser, and test_connections.py opens each in one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from tests.forked import serve_forked
from tests.links import FIRST, LINKS

ROOT = Path(__file__).resolve().parents[2]
PAGES = len(list((ROOT / "pages").glob("*.py")))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """That of a server which nobody has asked anything. It outlives the page, which would miss it."""
    with serve_forked(ROOT / "app.py", tmp_path / "log.txt") as url:
        yield url


def test_the_first_request_of_a_server_opens_the_first_page_by_its_name(
    address: str, page: Page, idle: Callable[[Page], None]
) -> None:
    link = FIRST[-1]
    with nothing_refused(page):
        page.goto(address + link, wait_until="commit")  # `idle` waits for the rest
        idle(page)
        is_whole(page, address, link)
    assert page.evaluate("history.length") == 2  # the empty page that the window opened with, and this one


@contextmanager
def nothing_refused(page: Page) -> Iterator[None]:
    """The server has all that the page asks for."""
    refused: list[str] = []

    def look(answer: Response) -> None:
        if answer.status >= 400:
            refused.append(answer.url)

    page.on("response", look)
    yield
    page.remove_listener("response", look)
    assert refused == []


def test_the_address_of_a_lesson_without_its_page_opens_the_lesson(app_url: str, page: Page) -> None:
    page.goto(f"{app_url}/?lesson=it&step=which-word&only=1")
    expect(page.get_by_text("Which word does “it” look at most")).to_be_visible()
    assert page.url == f"{app_url}/lessons?lesson=it&step=which-word&only=1"
    assert page.get_by_test_id("stSidebarNavLink").count() == 0
    page.goto(f"{app_url}/?only=1")
    expect(page.get_by_text("shows one step of a lesson alone")).to_be_visible()


def is_whole(page: Page, address: str, link: str) -> None:
    """Check the heading, the menu, the window's title and that the address has not changed."""
    expect(page.get_by_role("heading", level=1)).to_have_text(LINKS[link])
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(PAGES)
    expect(page).to_have_title("Headlight")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url == address + link
