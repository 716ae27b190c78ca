"""Hostile and endless texts, both themes, and screens of every width.

What the page answers to a text or an address is in tests/ui/attention/test_page.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.attention.looking import HEAD, go, resize, type_sentence
from tests.browser.odd import HOSTILE, WORDS
from tools.serving import wait_until_idle
from transformer import Translator


def test_512_tokens_are_a_canvas(page: Page, odd_url: str, odd: Translator) -> None:
    text = " ".join(WORDS[i % 5] for i in range(511))
    go(page, f"{odd_url}/?kind=encoder&text={quote(text)}&target=one&layer=1&head=1")
    expect(page.locator(".where")).to_contain_text("512 × 512 tokens")
    expect(page.locator(".caption")).to_contain_text("512")
    canvas = page.locator(".map canvas[data-cells]")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    canvas.hover(position={"x": x + 100.5 * across, "y": y + 200.5 * down})
    expect(page.locator(".map .tip .value")).to_be_visible()
    assert odd.encode(text)[-1] == 3


def test_hostile_tokens_are_text_and_the_dark_theme_draws_zero_as_the_page(dark_page: Page, odd_url: str) -> None:
    page = go(dark_page, odd_url)
    draws_zero_as_the_page(page, "rgb(14, 17, 23)", "#0e1117")
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator(".side.right .token").nth(0)).to_have_text(HOSTILE[0])
    assert "<b>bold</b>" in page.locator(HEAD).evaluate("root => root.view.header.columns")
    type_sentence(page, "<script>alert(1)</script> <img src=x onerror=alert(1)> $x$ **bold** :red[no]")
    expect(page.get_by_text("not in the model's vocabulary").first).to_be_visible()
    assert page.locator("img[src='x']").count() == 0


def draws_zero_as_the_page(page: Page, ground: str, zero: str) -> None:
    assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor") == ground
    assert page.locator(HEAD).evaluate("root => root.view.colours[0]") == zero


def test_the_pictures_keep_a_size_that_can_be_read(new_page: Callable[..., Page], odd_url: str) -> None:
    """853 pixels are a screen of 1280 at 150 %. Every label is drawn, and nothing is wider than the page."""
    page = go(new_page(viewport={"width": 1920, "height": 768}), odd_url)
    draws_zero_as_the_page(page, "rgb(255, 255, 255)", "#ffffff")
    can_be_read(page, 1920)
    for width in (1280, 1024, 853, 390):
        resize(page, {"width": width, "height": 768})
        can_be_read(page, width)
    # On a phone everything is below each other.
    boxes = [page.locator(place).first.bounding_box() for place in (".thumb", HEAD, ".side.left")]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 3 and tops == sorted(tops)


PHONE: ViewportSize = {"width": 390, "height": 844}
ZOOMED: ViewportSize = {"width": 853, "height": 480}  # 1280 x 720 at 150 %
UNUSUAL = "The mitochondria produce adenosine triphosphate."


@pytest.mark.parametrize("text", ["", f"?text={quote(UNUSUAL)}"])
def test_the_first_screen_has_a_picture(new_page: Callable[..., Page], app_url: str, text: str) -> None:
    """Below the sentence, what is said of it, and its translation; and in large type."""
    page = go(new_page(), f"{app_url}/{text}")
    if not text:
        page.keyboard.press("l")
        expect(page.locator(":root[data-large-type]")).to_have_count(1)
        wait_until_idle(page)
        assert visible(page) >= 120 * 1.5
        page.keyboard.press("l")
        expect(page.locator(":root[data-large-type]")).to_have_count(0)
    said = page.get_by_text("has never read" if text else "cross-attention leaves the diagonal")
    for size in (ZOOMED, PHONE):
        resize(page, size)
        for above in (page.get_by_role("textbox").first, said, page.locator(".translation")):
            expect(above).to_be_in_viewport(ratio=1)
        assert visible(page) >= 120


def visible(page: Page) -> float:
    """How many of the window's pixels the pictures of the heads reach into the first screen."""
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    below = "thumb => innerHeight - thumb.getBoundingClientRect().top"
    return float(page.locator(".thumb").first.evaluate(below))


def test_on_a_phone_one_button_opens_the_controls(new_page: Callable[..., Page], odd_url: str) -> None:
    page = go(new_page(viewport=PHONE), f"{odd_url}/?kind=cross&layer=2&head=1&words=1")
    button = page.get_by_role("button", name="Change")
    controls = [
        page.get_by_role("radio", name="Decoder"),
        page.get_by_label("Show", exact=True),
        page.get_by_label("Scale", exact=True),
        page.get_by_role("checkbox", name="Whole words"),
        page.get_by_role("checkbox", name="Hide special"),
        page.get_by_role("button", name="Compare with a second sentence"),
        page.get_by_text("Type your own"),
    ]
    expect(button).to_contain_text("Cross, layer 2, head 1, whole words")
    expect(button).to_have_attribute("aria-expanded", "false")
    for control in controls:
        expect(control).to_be_hidden()
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    for control in controls:
        expect(control).to_be_visible()
    button.press("Tab")
    expect(page.get_by_role("radio", name="Encoder")).to_be_focused()
    controls[0].click()
    expect(button).to_contain_text("Decoder, layer 2, head 1, whole words")
    expect(page).to_have_url(re.compile("kind=decoder"))
    controls[3].press("Space")
    expect(button).not_to_contain_text("whole words")
    expect(controls[1]).to_be_visible()  # they stay open while they are used
    button.click()
    expect(controls[1]).to_be_hidden()
    # Where there is room for them, they need no button.
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(button).to_be_hidden()
    for control in controls:
        expect(control).to_be_visible()


def can_be_read(page: Page, width: int) -> None:
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"wider than {width} pixels"
    sizes = page.locator(HEAD).evaluate("root => [root.clientWidth, root.view.box.w, root.view.view]")
    assert min(sizes[2]["across"], sizes[2]["down"]) >= 12 and sizes[1] >= 120, (width, sizes)
    thumbs = page.locator(".thumb").first.bounding_box()
    assert thumbs is not None and thumbs["width"] >= 32, width
    assert page.locator(".side").evaluate_all("sides => sides.every(side => side.clientWidth >= 40)"), width
    box = page.get_by_role("textbox").first
    whole = "e => e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth"
    assert box.evaluate(whole), f"the sentence is not seen whole at {width} pixels"
    wide = page.locator(HEAD).evaluate("root => root.clientWidth")
    assert wide >= (600 if width == 1920 else 300), width
