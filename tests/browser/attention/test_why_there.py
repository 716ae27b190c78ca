"""The parts that open below the picture: “Why there?”, which follows a held cell, word alignment and similar places."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.attention.looking import go, over
from tests.browser.test_accessibility import violations


def test_the_score_of_a_held_cell_is_explained(page: Page, app_url: str) -> None:
    go(page, f"{app_url}/attention?model=reverse&text=abcdef&kind=cross&layer=2&head=3&row=2&column=5")
    box = page.locator(".st-key-why-there")
    box.locator("summary").click()
    expect(box.get_by_text("has a score")).to_contain_text("“e”")
    expect(box.locator(".why-there img.wide")).to_be_visible()
    expect(box.locator(".why-there img.narrow")).to_be_hidden()
    expect(box.get_by_text("pairs sum to")).to_be_visible()
    alignment = page.locator(".st-key-word-alignment")
    alignment.locator("summary").click()
    expect(alignment.get_by_role("img", name="Word alignment: ")).to_be_visible()
    expect(alignment.locator("code")).to_contain_text("-0")
    assert violations(page, themes=("light", "dark")) == []
    over(page, 3, 2)
    page.mouse.down()
    page.mouse.up()
    expect(box.get_by_text("has a score")).to_contain_text("“c”")
    page.set_viewport_size({"width": 390, "height": 800})
    expect(box.locator(".why-there img.narrow")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_similar_places_follow_the_layer_and_fit_on_a_phone(page: Page, app_url: str) -> None:
    text = "The animal didn't cross the street because it was too wide."
    go(page, f"{app_url}/attention?model=english-french&text={text}&kind=cross&layer=3&head=1&row=9&column=8")
    box = page.locator(".st-key-similar-places")
    box.locator("summary").click()
    expect(box.locator(".similar-places mark")).to_have_count(20)
    expect(box.locator(".by-layer th.chosen")).to_have_text("3")
    box.get_by_role("slider").press("Home")
    expect(box.locator(".by-layer th.chosen")).to_have_text("embedding")
    assert violations(page, themes=("light", "dark")) == []
    page.set_viewport_size({"width": 390, "height": 800})
    expect(box.locator(".similar-places mark").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
