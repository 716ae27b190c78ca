"""Every page, a published file and a class in the system's Firefox: a picture, a sentence, a head, and no error.

What each of them says is held to Python's numbers in Chromium, by the other files. Here it is what browsers differ in:
styles, drawing, the clipboard, workers and streams.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect

from tests.browser.attention.looking import thumb
from tests.browser.firefox import launch_firefox
from tests.browser.tabs import Tabs, listen
from tests.browser.test_class import answer, start
from tests.links import LINKS
from tools.serving import VIEWPORT, skip_tour, wait_until_idle

ROOT = Path(__file__).parents[2]
# A picture of each page but the first, which `wait_until_idle` waits to be painted, and how one chooses the third head
# there.
PAGES: dict[str, tuple[str, Callable[[Page], object] | None]] = {
    "Lessons": (".thumb-of svg", None),
    "Decoding": (".candidate .fill", lambda page: page.locator("select[aria-label='Head']").select_option("2")),
    "Why": (".st-key-why-heads svg", lambda page: page.locator('.st-key-why-heads [data-pick="self 1 2"]').click()),
    "Positions": (".main-svg", None),
    "Anatomy": (
        "canvas.strip",
        lambda page: page.get_by_role("radiogroup", name="Head").get_by_role("radio", name="3").click(),
    ),
    "Training": (".film canvas", None),
    "Checkpoints": (".st-key-blocks .block", None),
    "Heads": (".panel", lambda page: page.locator('[data-place="next 1 2"]').click()),
}
# Firefox closes the websocket of a page that is left before the page's timers end, and Streamlit logs what these send.
LEFT = "Cannot send rerun backMessage when disconnected from server"


def type_over(box: Locator, text: str) -> None:
    """Replace the text by keys: React does not notice what Playwright's `fill` does in Firefox."""
    box.click()
    box.press("Control+a")
    box.press_sequentially(text)
    box.press("Enter")


@pytest.fixture(scope="module")
def firefox(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    try:
        browser = launch_firefox(playwright, tmp_path_factory.mktemp("firefox"))
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    yield browser
    browser.close()


@pytest.fixture
def window(firefox: Browser) -> Iterator[Callable[..., Page]]:
    """Open windows of a returning visitor; at the end of the test none of them may have logged an error."""
    log, contexts = Tabs(firefox), []

    def opened(**options: Any) -> Page:
        contexts.append(skip_tour(firefox.new_context(**{"viewport": VIEWPORT, **options})))
        page = contexts[-1].new_page()
        listen(page, log)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [error for error in log.errors if LEFT not in error] == []


def test_every_page_draws_reads_a_sentence_and_opens_a_head(window: Callable[..., Page], app_url: str) -> None:
    page = window()
    for link, title in LINKS.items():
        if title == "Attention":  # the next test
            continue
        picture, choose_head = PAGES[title]
        page.goto(app_url + link, wait_until="commit")
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        wait_until_idle(page)
        expect(page.locator(picture).first).to_be_visible()
        if page.get_by_label("English sentence").count():
            type_over(page.get_by_label("English sentence"), "Two dogs are running.")
            expect(page).to_have_url(re.compile(r"text=Two\+dogs"))
            wait_until_idle(page)
        if choose_head:
            choose_head(page)
            expect(page).to_have_url(re.compile(r"head=3(&|$)"))
            wait_until_idle(page)
        fills_the_window(page, title)


def fills_the_window(page: Page, title: str) -> None:
    assert page.get_by_test_id("stException").count() == 0
    edges = "e => [e.scrollWidth - e.clientWidth, Math.round(e.getBoundingClientRect().bottom)]"
    assert page.get_by_test_id("stMain").evaluate(edges) == [0, VIEWPORT["height"]], title


def test_the_first_page_with_its_sentence_menus_keys_and_the_clipboard(
    window: Callable[..., Page], app_url: str
) -> None:
    page = window()
    page.goto(f"{app_url}/?layer=1&head=2")
    expect(page.locator(".map canvas").first).to_be_visible()
    wait_until_idle(page)
    box = page.get_by_label("English sentence")
    type_over(box, "Two dogs are running.")
    expect(page).to_have_url(re.compile(r"text=Two\+dogs"))
    wait_until_idle(page)
    fills_the_window(page, "Attention")
    thumb(page, 1, 2).click()
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile("layer=2&head=2"))
    wait_until_idle(page)
    page.get_by_role("button", name="Copy link to this view").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.url
    box.fill("")
    box.press("Control+v")
    expect(box).to_have_value(link)
    box.press("Escape")
    page.get_by_role("button", name="Export").click()
    expect(page.get_by_test_id("stPopoverBody").get_by_role("button").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("l")
    expect(page.locator(":root[data-large-type]")).to_have_count(1)
    wait_until_idle(page)
    fills_the_window(page, "Attention")


def test_a_published_file(window: Callable[..., Page], published: Path) -> None:
    page = window(offline=True)
    page.goto(published.as_uri())
    page.locator(".thumb").first.wait_for()
    type_over(page.get_by_label("Type a sentence in English"), "The girl sees the dog.")
    expect(page.locator(".token b").last).to_have_text("[EOS]")
    expect(page.locator(".token b").first).to_have_text("La")
    thumb(page, 3, 4).click()
    expect(page).to_have_url(re.compile("layer=3&head=4"))
    page.get_by_role("button", name="Switch this head off").click()
    expect(page.get_by_text("1 head is off")).to_be_visible()
    page.get_by_role("radio", name="Step by step").click()
    expect(page.locator(".player .stop").first).to_be_visible()


def test_a_class(window: Callable[..., Page], app_url: str) -> None:
    teacher, phone = window(), window(viewport={"width": 390, "height": 844})
    code = start(teacher, app_url, "find-the-head")
    phone.goto(f"{app_url}/join?code={code}")
    answer(phone, 5)
    expect(teacher.get_by_text("1 of 1 answered")).to_be_visible()
    teacher.get_by_role("button", name="Reveal", exact=True).click()
    expect(phone.locator(".why")).to_be_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    teacher.get_by_role("button", name="End the class").click()
    teacher.get_by_role("button", name="End it now").click()
    expect(phone.get_by_role("heading", name="The class is over")).to_be_visible()
