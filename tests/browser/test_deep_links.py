"""A link to a page, followed as the very first request of a server, opens the whole page and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from tests.forked import serve_forked

ROOT = Path(__file__).resolve().parents[2]
# Each page's address with parameters that it keeps, and its title.
LINKS = {
    "/?layer=1&head=2": "Attention",
    "/attention?layer=1&head=2": "Attention",
    "/lessons": "Lessons",
    "/decoding?strategy=sampling&seed=3": "Decoding",
    "/why?step=2": "Why",
    "/positions?positions=12": "Positions",
    "/anatomy?kind=encoder&layer=1": "Anatomy",
    "/training?sentence=2": "Training",
    "/checkpoints?weight=encoder": "Checkpoints",
    "/heads?kind=encoder&only=named": "Heads",
}
PAGES = len(list((ROOT / "pages").glob("*.py")))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """That of a server which nobody has asked anything. It outlives the page, which would miss it."""
    with serve_forked(ROOT / "app.py", tmp_path / "log.txt") as url:
        yield url


@pytest.mark.parametrize(("link", "title"), LINKS.items(), ids=LINKS)
def test_the_first_request_of_a_server_opens_the_page(
    address: str, page: Page, idle: Callable[[Page], None], link: str, title: str
) -> None:
    refused: list[str] = []

    def look(answer: Response) -> None:
        if answer.status >= 400:
            refused.append(answer.url)

    page.on("response", look)
    page.goto(address + link, wait_until="commit")  # `idle` waits for the rest
    idle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    # What navigation.py puts around a page: its menu, and the title of the window.
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(PAGES)
    expect(page).to_have_title("Headlight")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url == address + link
    page.remove_listener("response", look)
    assert refused == []
    assert page.evaluate("history.length") == 2  # the empty page that the window opened with, and this one


def test_every_page_has_a_link() -> None:
    assert {title.lower() for title in LINKS.values()} == {path.stem for path in (ROOT / "pages").glob("*.py")}
