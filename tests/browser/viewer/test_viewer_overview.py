"""The overview in a real browser: picking by mouse and keys, the caption, colours in both themes, any shape."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.viewer.looking import DARK, LIGHT, near, ramp, thumb_pixel
from tests.browser.viewer.patterns import case

Opened = Callable[..., Page]
CROSS = case("cross")


def thumb(page: Page, layer: int, head: int):  # type: ignore[no-untyped-def]
    return page.locator(f'.thumb[aria-label^="Layer {layer + 1}, head {head + 1},"]')


def selected(page: Page, layer: int, head: int) -> None:
    expect(page.get_by_text(f"selected ({layer}, {head})")).to_be_visible()
    expect(page.locator(".thumb[aria-selected=true]")).to_have_count(1)
    expect(thumb(page, layer, head)).to_have_attribute("aria-selected", "true")


def test_a_click_picks_a_head_once(page: Page, opened: Opened) -> None:
    opened(page)
    selected(page, 1, 2)
    thumb(page, 2, 0).click()
    expect(page.get_by_text("picked (2, 0)")).to_be_visible()
    selected(page, 2, 0)
    # A chip makes the page run again: the pick was answered and does not come back.
    page.locator(".chip").nth(3).click()
    expect(page.get_by_text("picked None")).to_be_visible()
    selected(page, 2, 0)


def test_a_page_that_changes_its_width_before_the_patterns_are_there(fresh_page: Page, viewer_url: str) -> None:
    page = fresh_page
    # Patterns and choice come as two messages: this holds the patterns back.
    page.add_init_script("""document.headlight = Object.assign(new EventTarget(), { values: new Proxy({}, {
      set(values, name, value) {
        if (name !== "kinds" || window.released) return Reflect.set(values, name, value);
        window.release = () => {
          window.released = true;
          values.kinds = value;
          document.headlight.dispatchEvent(new CustomEvent("kinds"));
        };
        return true;
      },
    }) });""")
    page.set_default_timeout(120_000)
    page.goto(viewer_url)
    page.wait_for_function("!!window.release")
    page.get_by_text("selected (1, 2)").wait_for()
    page.set_viewport_size({"width": 700, "height": 720})
    page.wait_for_timeout(500)
    expect(page.locator(".thumb")).to_have_count(0)
    page.evaluate("window.release()")
    selected(page, 1, 2)


def test_arrow_keys_move_the_selection(page: Page, opened: Opened) -> None:
    opened(page)
    thumb(page, 1, 2).focus()
    for key, layer, head in (
        ("ArrowRight", 1, 3), ("ArrowRight", 1, 3), ("ArrowDown", 2, 3), ("Home", 2, 0), ("ArrowUp", 1, 0),
        ("End", 1, 3), ("Control+Home", 0, 0), ("Control+End", 2, 3), ("PageUp", 2, 2), ("PageDown", 2, 3),
    ):  # fmt: skip
        page.keyboard.press(key)
        expect(thumb(page, layer, head)).to_be_focused()
        selected(page, layer, head)


def test_keys_faster_than_the_page_end_where_they_should(page: Page, opened: Opened) -> None:
    opened(page, case="6x8x20")
    thumb(page, 1, 2).focus()
    for key in ["ArrowRight"] * 5 + ["ArrowDown"] * 4 + ["ArrowLeft"] * 2:
        page.keyboard.press(key)
    selected(page, 5, 5)
    page.wait_for_timeout(500)
    selected(page, 5, 5)


def test_the_caption_follows_the_pointer_and_returns(page: Page, opened: Opened) -> None:
    opened(page)
    share = CROSS.patterns.mean(2)

    def caption(layer: int, head: int) -> str:
        j = int(share[layer, head].argmax())
        percent = round(float(share[layer, head, j]) * 100)
        return f"Layer {layer + 1}, head {head + 1} looks at {CROSS.columns[j]}, {percent}\u00a0% on average"

    expect(page.locator(".caption")).to_have_text(caption(1, 2))
    thumb(page, 0, 3).hover()
    expect(page.locator(".caption")).to_have_text(caption(0, 3))
    strongest = CROSS.patterns.max(-1).mean(-1)[0, 3]
    expect(page.locator(".profile b").nth(1)).to_have_text(f"{strongest:.2f}")
    expect(page.locator(".thumb.hovered")).to_have_count(1)
    page.mouse.move(5, 5)
    expect(page.locator(".caption")).to_have_text(caption(1, 2))
    assert thumb(page, 0, 3).get_attribute("aria-label") == caption(0, 3).replace("head 4 looks", "head 4, looks")


@pytest.mark.parametrize(("scheme", "stops"), [("light", LIGHT), ("dark", DARK)])
def test_thumbnails_have_the_colours_of_their_weights(
    new_page: Callable[..., Page], opened: Opened, scheme: str, stops: list[str]
) -> None:
    page = opened(new_page(color_scheme=scheme))
    for layer, head, i, j in ((0, 2, 0, 1), (1, 1, 4, 4), (1, 2, 0, 1), (2, 3, 9, 0)):
        weight = CROSS.patterns[layer, head, i, j]
        colour = thumb_pixel(page, layer, head, (10, 10), (i, j))
        assert near(colour, ramp(float(weight), stops), 4), (layer, head, i, j)


def test_a_theme_switched_while_open_repaints(page: Page, opened: Opened) -> None:
    opened(page)
    weight = float(CROSS.patterns[0, 2, 0, 9])
    assert near(thumb_pixel(page, 0, 2, (10, 10), (0, 9)), ramp(weight, LIGHT))
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "() => [...document.querySelectorAll('*')].some(e => e.shadowRoot?.querySelector('.hl[data-theme=dark]'))"
    )
    page.wait_for_timeout(300)
    assert near(thumb_pixel(page, 0, 2, (10, 10), (0, 9)), ramp(weight, DARK))


def test_masked_cells_are_hatched_and_not_zero(page: Page, opened: Opened) -> None:
    opened(page, case="decoder")
    masked = {tuple(thumb_pixel(page, 0, 0, (60, 60), (3, k))) for k in range(30, 50)}
    zero = tuple(ramp(0, LIGHT))
    assert zero not in masked and len(masked) > 1


def test_one_head_of_one_token_is_shown(page: Page, opened: Opened) -> None:
    opened(page, case="one")
    expect(page.locator(".thumb")).to_have_count(1)
    expect(page.locator(".caption")).to_have_text("Layer 1, head 1 looks at a, 100\u00a0% on average")


def test_many_heads_scroll_inside_and_keep_the_selection_in_sight(page: Page, opened: Opened) -> None:
    opened(page, case="12x16x40")
    expect(page.locator(".thumb")).to_have_count(192)
    expect(page.locator(".caption small")).to_have_text("Thumbnails are max-pooled from 40 to 32 tokens.")
    thumb(page, 1, 2).focus()
    page.keyboard.press("Control+End")
    selected(page, 11, 15)
    frame, last = page.locator(".frame").bounding_box(), thumb(page, 11, 15).bounding_box()
    assert frame is not None and last is not None
    assert last["x"] + last["width"] <= frame["x"] + frame["width"]
    assert last["y"] + last["height"] <= frame["y"] + frame["height"]


def test_pooled_thumbnails_say_so_and_show_the_largest(page: Page, opened: Opened) -> None:
    opened(page, case="2x2x300")
    expect(page.locator(".caption small")).to_have_text("Thumbnails are max-pooled from 300 to 64 tokens.")
    pattern = case("2x2x300").patterns[1, 1]
    edges = np.arange(64) * 300 // 64
    pooled = np.maximum.reduceat(np.maximum.reduceat(pattern, edges, 0), edges, 1)
    colour = thumb_pixel(page, 1, 1, (64, 64), (32, 32))
    # A pixel of the screen may hold up to two of the 64 cells: its colour is one of these, or brighter.
    assert sum(colour) <= sum(ramp(float(pooled[32, 32]), LIGHT)) + 12


def test_the_page_is_no_wider_than_a_phone(new_page: Callable[..., Page], opened: Opened) -> None:
    for name in ("cross", "12x16x40"):
        page = opened(new_page(viewport={"width": 360, "height": 800}), case=name)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 360


def test_many_heads_are_filtered_by_a_measure(page: Page, opened: Opened) -> None:
    opened(page, case="12x16x8")
    demo = case("12x16x8")
    strongest = demo.patterns.max(-1).mean(-1)
    highest = {divmod(int(at), 16) for at in np.argsort(strongest, axis=None)[-24:]}
    page.locator("select.filter").select_option(label="The 24 highest: strongest")
    thumbs = page.locator(".thumb")
    visible = {divmod(n, 16) for n in range(12 * 16) if thumbs.nth(n).is_visible()}
    assert visible == highest
    layers = page.locator(".grid .layer:visible").all_inner_texts()
    assert layers == [str(layer + 1) for layer in sorted({layer for layer, _ in highest})]
    chosen = page.locator(".thumb[aria-selected=true]")
    expect(chosen).to_be_visible()  # one of them
    chosen.focus()
    page.keyboard.press("ArrowDown")
    expect(chosen).to_be_visible()
    page.locator("select.filter").select_option(label="All 192 heads")
    expect(page.locator(".thumb:visible")).to_have_count(192)


def test_few_heads_need_no_filter(page: Page, opened: Opened) -> None:
    opened(page)
    expect(page.locator("select.filter")).to_be_hidden()
