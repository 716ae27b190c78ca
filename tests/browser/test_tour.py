"""The tour of the first page: when it is shown, what it points at, and how it is left."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.conftest import Opener
from tools.serving import wait_until_idle

# What each stop points at, as a selector and a beginning of what it says.
STOPS = (
    ("[class*=st-key-sentence-box-text]", "Type a sentence"),
    (".st-key-overview .grid", "Each little square is one head."),
    (".st-key-head .map", "Here is the chosen square, large. A row is a token that looks"),
    (".st-key-overview .caption", "This sentence says"),
    ("[data-testid=stSidebarNav]", "The menu leads on."),
)


@pytest.fixture
def visit(new_page: Opener, app_url: str) -> Callable[..., Page]:
    """Open an address in a browser that has never been here."""

    def opened(address: str = "/", **options: object) -> Page:
        page = new_page(fresh=True, first_visit=True, **options)
        page.goto(app_url + address)
        return page

    return opened


def coach(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Show me around")


def button(page: Page) -> Locator:
    return page.get_by_role("button", name="Show me around")


def onward(page: Page) -> Locator:
    return coach(page).get_by_role("button", name=re.compile("Next|Done"))


def box(part: Locator) -> FloatRect:
    found = part.bounding_box()
    assert found
    return found


def overlap(one: FloatRect, other: FloatRect) -> bool:
    return (
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def holds_focus(page: Page) -> bool:
    return coach(page).evaluate("node => node.matches(':focus-within')")


def test_the_first_visit_is_shown_around_by_keyboard(visit: Callable[..., Page]) -> None:
    page = visit()
    expect(coach(page)).to_be_visible()
    wait_until_idle(page)
    for number, (anchor, text) in enumerate(STOPS, 1):
        expect(coach(page)).to_contain_text(text)
        expect(coach(page).locator("[aria-live]")).to_contain_text(f"{number} of 5")
        pointed, ring, card = box(page.locator(anchor)), box(page.locator(".ring")), box(coach(page))
        assert not overlap(card, pointed) and not overlap(card, ring)
        assert ring == pytest.approx(pointed, abs=1)
        assert card["y"] >= 0 and card["y"] + card["height"] <= 720
        for key in ("Tab", "Tab", "Tab", "Shift+Tab"):
            page.keyboard.press(key)
            assert holds_focus(page)
        page.keyboard.press("ArrowRight" if number < 5 else "ArrowLeft")
    expect(coach(page)).to_contain_text("4 of 5")
    page.keyboard.press("Escape")
    expect(coach(page)).to_be_hidden()
    button(page).focus()
    page.keyboard.press("Enter")
    expect(coach(page)).to_contain_text("1 of 5")
    for _ in STOPS:
        coach(page).get_by_role("button", name="Next").or_(coach(page).get_by_role("button", name="Done")).press(
            "Enter"
        )
    expect(coach(page)).to_be_hidden()
    expect(button(page)).to_be_focused()  # where it was


def test_who_types_goes_on_typing_and_skipping_is_remembered_until_the_button_is_pressed(
    visit: Callable[..., Page],
) -> None:
    page = visit()
    typed = page.locator(".st-key-sentence-box-text-0 textarea")
    typed.focus()
    expect(coach(page)).to_be_visible()
    assert not holds_focus(page)
    page.keyboard.type("x")
    expect(typed).to_have_value("The little girl is eating a red apple.x")
    page.keyboard.press("Backspace")
    coach(page).get_by_role("button", name="Skip").click()
    expect(coach(page)).to_be_hidden()
    page.reload()
    assert "?" not in page.url  # it is the page as it opens
    wait_until_idle(page)
    expect(button(page)).to_be_visible()
    page.wait_for_timeout(1000)
    expect(coach(page)).to_be_hidden()
    button(page).click()
    expect(coach(page)).to_contain_text("1 of 5")
    expect(coach(page).get_by_role("button", name="Back")).to_be_hidden()
    # The page goes on beside it: another head is chosen, and the tour points at the same stop.
    coach(page).get_by_role("button", name="Next").click()
    page.locator(".thumb").first.click()
    expect(page.locator(".thumb").first).to_have_attribute("aria-selected", "true")
    wait_until_idle(page)
    expect(coach(page)).to_contain_text("2 of 5")
    # Another page ends it.
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Positions").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Positions")
    expect(coach(page)).to_have_count(0)


def test_on_a_phone_it_is_a_sheet_at_the_bottom(visit: Callable[..., Page]) -> None:
    page = visit(viewport={"width": 390, "height": 844}, color_scheme="dark")
    expect(coach(page)).to_be_visible()
    wait_until_idle(page)
    for anchor, _ in STOPS:
        card, ring = box(coach(page)), box(page.locator(".ring"))
        assert card["width"] == 390 - 24 and card["y"] + card["height"] == pytest.approx(844 - 12, abs=1)
        pointed = page.locator(anchor)
        if anchor == STOPS[-1][0]:  # it is folded away
            pointed = page.get_by_test_id("stExpandSidebarButton")
        assert box(pointed) == pytest.approx(ring, abs=1) and not overlap(card, ring)
        onward(page).click()
    expect(coach(page)).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    expect(button(page)).to_be_visible()


def test_a_link_to_something_else_is_not_interrupted_and_in_a_low_window_the_coach_mark_stands_at_a_side(
    visit: Callable[..., Page],
) -> None:
    page = visit("/?layer=1&head=2", viewport={"width": 1280, "height": 480})
    wait_until_idle(page)
    page.wait_for_timeout(1000)
    expect(coach(page)).to_be_hidden()
    button(page).click()
    expect(coach(page)).to_contain_text("1 of 5")
    for anchor, text in STOPS:
        expect(coach(page)).to_contain_text(text)
        pointed, card = box(page.locator(anchor)), box(coach(page))
        assert not overlap(card, pointed) and 0 <= card["y"] <= 480 - card["height"]
        onward(page).click()
    # A stop whose part is not there is left out.
    page.add_style_tag(content=".st-key-head { display: none !important; }")
    button(page).click()
    expect(coach(page)).to_contain_text("1 of 4")


def test_an_embedded_page_large_type_and_lost_storage_are_not_interrupted(visit: Callable[..., Page]) -> None:
    page = visit("/?embed=true")

    def is_not_interrupted() -> None:
        wait_until_idle(page)
        page.wait_for_timeout(1000)
        expect(coach(page)).to_be_hidden()

    is_not_interrupted()
    button(page).click()  # but it is there
    expect(coach(page)).to_contain_text("1 of 5")
    for script in (
        "sessionStorage['headlight-large-type'] = '1'",
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no'); } })",
    ):
        # Each time as a browser that has never been here.
        page.add_init_script(f"try {{ localStorage.clear(); sessionStorage.clear(); {script} }} catch {{}}")
        page.goto(page.url.split("?")[0])
        is_not_interrupted()
