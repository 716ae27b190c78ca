"""Texts of every sort, addresses that make no sense, both themes, and screens of every width."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.attention.looking import (
    HEAD,
    HOSTILE,
    WORDS,
    go,
    type_sentence,
)
from tools.serving import wait_until_idle
from transformer import Translator


def test_a_translation_that_cannot_be_read_can_be_changed(page: Page, odd_url: str) -> None:
    page.goto(f"{odd_url}/?target=")
    page.get_by_text("Type one, or let the model write its own").wait_for()
    page.get_by_text("Type your own").click()
    wait_until_idle(page)
    expect(page.locator(".thumb")).not_to_have_count(0)
    expect(page).not_to_have_url(re.compile("target"))


def test_hostile_tokens_are_text(page: Page, odd_url: str) -> None:
    go(page, odd_url)
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator(".side.right .token").nth(0)).to_have_text(HOSTILE[0])
    assert "<b>bold</b>" in page.locator(HEAD).evaluate("root => root.view.header.columns")
    type_sentence(page, "<script>alert(1)</script> <img src=x onerror=alert(1)> $x$ **bold** :red[no]")
    assert page.locator("img[src='x']").count() == 0


def test_bad_input_is_answered_in_plain_words(page: Page, odd_url: str) -> None:
    go(page, odd_url)
    for text, message in (
        ("", "empty"),
        ("   ", "empty"),
        ("one " * 2_500, "at most 600"),
        ("😀 日本語 שלום", "not in the model's vocabulary"),
    ):
        type_sentence(page, text)
        expect(page.get_by_text(message).first).to_be_visible()
        type_sentence(page, "one two")
        expect(page.get_by_text(message)).to_have_count(0)
        expect(page.locator(".thumb")).to_have_count(6)


def test_512_tokens_are_a_canvas(page: Page, odd_url: str, odd: tuple[Path, Translator]) -> None:
    text = " ".join(WORDS[i % 5] for i in range(511))
    go(page, f"{odd_url}/?kind=encoder&text={quote(text)}&target=one&layer=1&head=1")
    expect(page.locator(".where")).to_contain_text("512 × 512 tokens")
    expect(page.locator(".caption")).to_contain_text("512")
    canvas = page.locator(".map canvas[data-cells]")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    canvas.hover(position={"x": x + 100.5 * across, "y": y + 200.5 * down})
    expect(page.locator(".map .tip .value")).to_be_visible()
    assert odd[1].encode(text)[-1] == 3


def draws_zero_as_the_page(page: Page, ground: str, zero: str) -> None:
    assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor") == ground
    assert page.locator(HEAD).evaluate("root => root.view.colours[0]") == zero


def test_the_dark_theme_draws_zero_as_the_page(dark_page: Page, odd_url: str) -> None:
    go(dark_page, odd_url)
    draws_zero_as_the_page(dark_page, "rgb(14, 17, 23)", "#0e1117")


def test_the_pictures_keep_a_size_that_can_be_read(new_page: Callable[..., Page], odd_url: str) -> None:
    """853 pixels are a screen of 1280 at 150 %. Every label is drawn, and nothing is wider than the page."""
    page = go(new_page(viewport={"width": 1920, "height": 768}), odd_url)
    draws_zero_as_the_page(page, "rgb(255, 255, 255)", "#ffffff")
    can_be_read(page, 1920)
    for width in (1280, 1024, 853, 390):
        page.set_viewport_size({"width": width, "height": 768})
        page.wait_for_function("width => document.querySelector('.stApp').clientWidth === width", arg=width)
        wait_until_idle(page)
        can_be_read(page, width)


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


def test_a_phone_shows_everything_below_each_other(new_page: Callable[..., Page], odd_url: str) -> None:
    phone = go(new_page(viewport={"width": 390, "height": 844}), odd_url)
    can_be_read(phone, 390)
    boxes = [phone.locator(place).first.bounding_box() for place in (".thumb", HEAD, ".side.left")]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 3 and tops == sorted(tops)


def test_an_unknown_model_or_head_in_a_link_is_no_error(page: Page, odd_url: str) -> None:
    go(page, f"{odd_url}/?model=**none**&layer=99&head=77&kind=x&changes=cross.9.9&show=difference&mass=3")
    expect(page.get_by_text("There is no model “**none**” here")).to_be_visible()
    expect(page.locator(".thumb")).to_have_count(6)
