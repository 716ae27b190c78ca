"""A term of the glossary says what it means: by hover, tap and keyboard."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from headlight.glossary import glossary
from tests.browser.conftest import Opener
from tools.serving import wait_until_idle


def meaning(page: Page) -> Locator:
    return page.get_by_role("tooltip").filter(visible=True)


def term(page: Page, name: str) -> Locator:
    return page.get_by_test_id("stMain").get_by_role("link", name=name, exact=True)


def test_a_term_is_explained_by_hover_and_keyboard(page: Page, app_url: str) -> None:
    page.goto(app_url)
    wait_until_idle(page)
    expect(meaning(page)).to_have_count(0)
    term(page, "cross-attention").hover()
    expect(meaning(page)).to_have_text(glossary()["cross-attention"])
    assert page.locator("[title]").filter(has_text="cross-attention").count() == 0  # the browser's own would follow
    meaning(page).hover()  # it can be pointed at, as to read it enlarged
    page.wait_for_timeout(400)
    expect(meaning(page)).to_be_visible()
    page.mouse.move(0, 0)
    expect(meaning(page)).to_have_count(0)

    term(page, "head").focus()
    page.keyboard.press("Tab")
    expect(term(page, "cross-attention")).to_be_focused()
    expect(meaning(page)).to_have_text(glossary()["cross-attention"])
    expect(term(page, "cross-attention")).to_have_accessible_description(glossary()["cross-attention"])
    expect(term(page, "head")).to_have_accessible_description(glossary()["head"])
    page.keyboard.press("Escape")
    expect(meaning(page)).to_have_count(0)
    expect(term(page, "cross-attention")).to_be_focused()
    page.keyboard.press("Enter")
    expect(meaning(page)).to_have_text(glossary()["cross-attention"])
    page.keyboard.press("Tab")
    expect(meaning(page)).to_have_count(0)
    assert page.url.rstrip("/") == app_url  # and Back leads to where it did

    # What a rerun writes anew is explained too.
    page.get_by_role("radio", name="Decoder").click()
    term(page, "decoder self-attention").hover()
    expect(meaning(page)).to_have_text(glossary()["decoder self-attention"])


def test_a_term_is_explained_by_a_tap_within_a_phone(new_page: Opener, app_url: str) -> None:
    page = new_page(fresh=True, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(app_url)
    wait_until_idle(page)
    for name in ("sequence log-probability", "cross-attention"):
        term(page, name).tap()
        expect(meaning(page)).to_have_text(glossary()[name])
        page.wait_for_timeout(400)
        box = meaning(page).bounding_box()
        at = term(page, name).bounding_box()
        assert box and at and box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert box["y"] >= at["y"] + at["height"] or box["y"] + box["height"] <= at["y"]  # not over the term
    page.get_by_role("heading", level=1).tap()
    expect(meaning(page)).to_have_count(0)


def test_other_pages_explain_their_terms(page: Page, app_url: str) -> None:
    for path, name in (("anatomy", "residual stream"), ("lessons?lesson=query", "query")):
        page.goto(f"{app_url}/{path}")
        wait_until_idle(page)
        term(page, name).first.hover()
        expect(meaning(page)).to_have_text(glossary()[name])
