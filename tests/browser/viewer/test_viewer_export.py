"""The offline file opened with the network cut, and hostile text in it and in the components."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from headlight.viewer.export import CAUTION, KindView, standalone_html
from tests.browser.viewer.looking import DARK, LIGHT, MAP, cell, near, pixel, ramp, tooltip
from tests.browser.viewer.patterns import HOSTILE, captions, case

Opened = Callable[..., Page]
META = {"English sentence": "A little girl", "French": "Une petite fille", "Model": "demo"}


def kind(name: str) -> KindView:
    view = case(name)
    return KindView(view.patterns, view.masked, view.rows, view.columns, view.rows_read, captions(view))


@pytest.fixture
def page(fresh_page: Page) -> Page:
    """Open a page of its own, which these tests cut off from the network and listen to."""
    return fresh_page


@pytest.fixture
def offline(page: Page, tmp_path: Path) -> Callable[[str], list[str]]:
    """Open this HTML from a file without a network; returns the addresses asked for, the file's apart."""

    def show(html: str) -> list[str]:
        path = tmp_path / "view.html"
        path.write_text(html, encoding="utf-8")
        asked: list[str] = []
        page.set_default_timeout(120_000)
        page.on("request", lambda request: asked.append(request.url))
        page.context.set_offline(True)
        page.goto(path.as_uri())
        page.locator(".thumb[aria-selected=true]").wait_for()
        asked.remove(path.as_uri())
        return asked

    return show


def test_the_file_works_without_a_network(page: Page, offline: Callable[[str], list[str]]) -> None:
    kinds = {"encoder": kind("encoder"), "decoder": kind("decoder"), "cross": kind("cross")}
    asked = offline(standalone_html("A little girl", kinds, ("cross", 1, 2), "light", META))
    cross, decoder = case("cross").patterns, case("decoder").patterns
    expect(page.get_by_role("heading", name="Layer 2, head 3", exact=True)).to_be_visible()
    for text in ("Une petite fille", "demo", CAUTION):
        expect(page.get_by_text(text, exact=True)).to_be_visible()
    page.locator(MAP).hover(position=cell(page, 0, 1))
    assert f"Une looks at little {cross[1, 2, 0, 1]:.3f}" in tooltip(page)
    page.locator('.thumb[aria-label^="Layer 3, head 1,"]').click()
    expect(page.get_by_role("heading", name="Layer 3, head 1", exact=True)).to_be_visible()
    expect(page.locator(".chip[aria-pressed=true]")).to_have_text(["1"])
    page.locator(MAP).hover(position=cell(page, 4, 4))
    assert f"{cross[2, 0, 4, 4]:.3f}" in tooltip(page)
    page.get_by_role("button", name="Decoder").click()
    page.locator(MAP).hover(position=cell(page, 4, 1))
    assert f"assise looks at Une {decoder[2, 0, 4, 1]:.3f}" in tooltip(page)
    page.locator(MAP).hover(position=cell(page, 1, 4))
    assert "may not look at" in tooltip(page)
    page.get_by_role("button", name="Encoder").click()  # two layers: the third is not there
    expect(page.get_by_role("heading", name="Layer 2, head 1", exact=True)).to_be_visible()
    expect(page.locator(".thumb")).to_have_count(8)
    assert asked == []


def test_the_file_brings_the_fonts_of_its_letters(page: Page, offline: Callable[[str], list[str]]) -> None:
    """Compare widths: a substitute letter is wider, or a box."""
    words = ["\u2581le", "\u0939\u093f"]
    view = KindView(np.eye(2, dtype=np.float32)[None, None], None, words, words, None, [[[""]]])
    asked = offline(standalone_html("t", {"encoder": view}, ("encoder", 0, 0), "light", {}))
    widths = """async () => {
      await document.fonts.ready;
      const pen = document.createElement("canvas").getContext("2d");
      pen.font = `100px ${getComputedStyle(document.querySelector(".side .token")).fontFamily}`;
      const loaded = [...document.fonts].filter(font => font.status === "loaded").map(font => font.family);
      return [Math.round(pen.measureText("\u2581").width), loaded];
    }"""
    assert page.evaluate(widths) == [34, ["Headlight marks", "Noto Sans Devanagari"]]
    assert asked == []


def test_the_file_has_both_themes(page: Page, offline: Callable[[str], list[str]]) -> None:
    offline(standalone_html("t", {"cross": kind("cross")}, ("cross", 1, 2), "dark", META))
    weight, at = float(case("cross").patterns[1, 2, 0, 1]), cell(page, 0, 1)
    assert near(pixel(page.locator(MAP), at["x"], at["y"]), ramp(weight, DARK))
    page.get_by_role("button", name="Light theme").click()
    page.wait_for_timeout(200)
    assert near(pixel(page.locator(MAP), at["x"], at["y"]), ramp(weight, LIGHT))
    expect(page.get_by_role("button", name="Dark theme")).to_be_visible()


def test_half_precision_is_stated_and_near(page: Page, offline: Callable[[str], list[str]]) -> None:
    offline(standalone_html("t", {"encoder": kind("2x4x360")}, ("encoder", 1, 1), "light", META))
    expect(page.get_by_text("half precision")).to_be_visible()
    pattern = case("2x4x360").patterns[1, 1]
    page.locator(MAP).focus()
    page.keyboard.press("ArrowDown")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".map .tip .value")).to_be_visible()
    text = page.locator(".map .tip .value").inner_text().replace("−", "-")
    assert float(text) == pytest.approx(float(pattern[0, 3]), rel=0.06, abs=6e-4)


def test_rows_of_the_lines_stand_level_with_the_map(page: Page, offline: Callable[[str], list[str]]) -> None:
    offline(standalone_html("t", {"cross": kind("cross")}, ("cross", 1, 2), "light", META))
    page.wait_for_timeout(200)
    canvas = page.locator(MAP).bounding_box()
    for row in (0, 9):
        token = page.locator(".side.left .token").nth(row).bounding_box()
        assert canvas is not None and token is not None
        assert abs(canvas["y"] + cell(page, row, 0)["y"] - token["y"] - token["height"] / 2) < 2


def unharmed(page: Page) -> None:
    """Nothing that a token asked for has happened."""
    assert page.evaluate("window.alarms") == []
    assert (
        page.evaluate(
            """() => [document, ...[...document.querySelectorAll("*")].map(e => e.shadowRoot).filter(Boolean)]
            .flatMap(root => [...root.querySelectorAll('img[src="x"]')]).length"""
        )
        == 0
    )


def test_hostile_tokens_are_text_on_the_page(page: Page, opened: Opened) -> None:
    page.add_init_script("window.alarms = []; window.alert = text => window.alarms.push(text)")
    opened(page, case="hostile")
    assert page.locator(".side.left .token").all_inner_texts() == HOSTILE
    page.locator(MAP).hover(position=cell(page, 0, 1))
    assert f"{HOSTILE[0]} looks at {HOSTILE[1]}" in tooltip(page)
    page.locator(".thumb").first.hover()
    expect(page.locator(".caption b").nth(1)).to_have_text(captions(case("hostile"))[0][0][1])
    unharmed(page)


def test_hostile_text_is_text_in_the_file(page: Page, offline: Callable[[str], list[str]]) -> None:
    page.add_init_script("window.alarms = []; window.alert = text => window.alarms.push(text)")
    html = standalone_html(
        HOSTILE[1], {"cross": kind("hostile")}, ("cross", 0, 1), "light", dict.fromkeys(HOSTILE, HOSTILE[0])
    )
    assert offline(html) == []
    assert page.title() == HOSTILE[1]
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE[1])
    assert page.locator(".side.right .token").all_inner_texts() == HOSTILE
    page.locator(MAP).hover(position=cell(page, 1, 0))
    assert f"{HOSTILE[1]} looks at {HOSTILE[0]}" in tooltip(page)
    unharmed(page)


def test_an_address_names_the_head_and_another_page_may_show_the_picture_alone(
    page: Page, offline: Callable[[str], list[str]]
) -> None:
    kinds = {"encoder": kind("encoder"), "cross": kind("cross")}
    offline(standalone_html("A little girl", kinds, ("cross", 1, 2), None, META))
    page.evaluate("location.hash = 'kind=encoder&layer=2&head=4&embed=picture&theme=dark'")
    expect(page.get_by_role("heading", name="Layer 2, head 4", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    for text in ("A little girl", "Une petite fille"):
        expect(page.get_by_text(text, exact=True).first).to_be_hidden()
    page.locator(".thumb").first.click()
    assert page.url.endswith("#kind=encoder&layer=1&head=1&embed=picture&theme=dark")
    page.evaluate("location.hash = 'kind=other&layer=99&head=x'")  # what is not there is left as it is, or the nearest
    expect(page.get_by_role("heading", name="Layer 2, head 1", exact=True)).to_be_visible()
    expect(page.get_by_text("This file holds the attention of one sentence and not the model")).to_be_visible()
