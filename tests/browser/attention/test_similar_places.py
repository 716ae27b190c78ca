"""“Similar places” in the browser: drawn within the width of a phone, they follow the layer, and axe finds nothing."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.attention.looking import go
from tests.browser.test_accessibility import violations


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
