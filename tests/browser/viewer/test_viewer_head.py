"""The large map in a real browser: exact weights under the pointer, colours, masked cells, zoom and pan."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.viewer.looking import DARK, LIGHT, MAP, cell, near, pixel, ramp, tooltip
from tests.browser.viewer.patterns import WRITES, case

Opened = Callable[..., Page]
CROSS = case("cross")


def ordinal(n: int) -> str:
    return f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th') }".replace(" ", "")


def test_the_tooltip_tells_the_exact_weight_and_its_rank(page: Page, opened: Opened) -> None:
    opened(page)
    pattern = CROSS.patterns[1, 2]
    for i, j in ((0, 1), (3, 3), (9, 9), (4, 0), (8, 6)):
        page.locator(MAP).hover(position=cell(page, i, j))
        rank = int((pattern[i] > pattern[i, j]).sum()) + 1
        assert f"{WRITES[i]} looks at {CROSS.columns[j]}" in tooltip(page)
        if pattern[i, j] >= 0.0005:
            assert f"{pattern[i, j]:.3f} {ordinal(rank)} in its row" in tooltip(page)


@pytest.mark.parametrize(("scheme", "stops"), [("light", LIGHT), ("dark", DARK)])
def test_cells_have_the_colours_of_their_weights(
    new_page: Callable[..., Page], opened: Opened, scheme: str, stops: list[str]
) -> None:
    page = opened(new_page(color_scheme=scheme))
    for i, j in ((0, 1), (3, 3), (9, 9), (0, 9)):
        at = cell(page, i, j)
        colour = pixel(page.locator(MAP), at["x"], at["y"])
        assert near(colour, ramp(float(CROSS.patterns[1, 2, i, j]), stops)), (i, j)


def test_scales_change_the_colours_and_say_so(page: Page, opened: Opened) -> None:
    opened(page, scale="row")
    pattern = CROSS.patterns[1, 2]
    best = int(pattern[4].argmax())
    at = cell(page, 4, best)
    assert near(pixel(page.locator(MAP), at["x"], at["y"]), ramp(1, LIGHT))
    expect(page.locator(".notes")).to_have_text("Each row is scaled to its own largest weight.")
    expect(page.locator(".caption small")).to_have_text("Each row is scaled to its own largest weight.")
    page.locator(MAP).hover(position=at)
    assert f"{pattern[4, best]:.3f}" in tooltip(page)  # the weight itself, whatever the scale
    opened(page, scale="sqrt")
    assert near(pixel(page.locator(MAP), at["x"], at["y"]), ramp(float(pattern[4, best]) ** 0.5, LIGHT))
    expect(page.locator(".notes")).to_contain_text("square root")


def test_a_masked_cell_is_not_a_weight(page: Page, opened: Opened) -> None:
    opened(page, case="decoder")
    page.locator(MAP).hover(position=cell(page, 2, 7))
    assert "fille may not look at un" in tooltip(page) and "masked" in tooltip(page)
    at = cell(page, 2, 7)
    colours = {tuple(pixel(page.locator(MAP), at["x"] + d, at["y"])) for d in range(-6, 6)}
    assert tuple(ramp(0, LIGHT)) not in colours and len(colours) > 1


def test_keys_walk_over_the_cells(page: Page, opened: Opened) -> None:
    opened(page)
    page.locator(MAP).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):  # the first only shows where one is
        page.keyboard.press(key)
    assert f"petite looks at girl {CROSS.patterns[1, 2, 1, 2]:.3f}" in tooltip(page)
    expect(page.locator("[aria-live]").filter(has_text="petite looks at")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".map .tip")).to_be_hidden()


def test_the_lines_light_up_with_the_map(page: Page, opened: Opened) -> None:
    opened(page)
    page.locator(MAP).hover(position=cell(page, 5, 3))
    expect(page.locator(".side.left .token.chosen")).to_have_text("sur")
    expect(page.locator(".side.right .token.chosen")).to_have_text("is")
    page.mouse.move(5, 5)
    expect(page.locator(".token.chosen")).to_have_count(0)


def test_f_fills_the_screen_with_the_view_under_the_pointer(page: Page, opened: Opened) -> None:
    opened(page)
    page.locator(MAP).hover(position=cell(page, 3, 3))
    before = page.locator(MAP).evaluate("canvas => canvas.clientWidth")
    page.keyboard.press("f")
    full = page.locator(".hl:fullscreen")
    expect(full.locator(".map")).to_be_visible()
    assert full.evaluate("root => root.offsetWidth === innerWidth && root.offsetHeight === innerHeight")
    expect(full.locator(MAP)).not_to_have_css("width", f"{before}px")  # drawn anew, as large as there is room
    expect(page.locator(".hl:fullscreen .chips")).to_have_count(0)  # the lines were not under it
    page.keyboard.press("f")
    expect(page.locator(".hl:fullscreen")).to_have_count(0)


def test_512_tokens_zoom_pan_and_stay_exact(page: Page, opened: Opened) -> None:
    opened(page, case="1x2x512")
    view, canvas, where = case("1x2x512"), page.locator(MAP), page.locator(".where")
    expect(where).to_contain_text("512 × 512 tokens")
    at = cell(page, 200, 300)
    canvas.hover(position=at)
    for _ in range(12):
        page.mouse.wheel(0, -200)
    expect(where).to_have_text(re.compile(r"Rows \d+ to \d+ of 512, columns \d+ to \d+ of 512"))
    top, bottom, left, right = (int(n) for n in re.findall(r"\d+(?= to| of)|(?<=to )\d+", where.inner_text())[:4])
    assert top <= 201 <= bottom and left <= 301 <= right and bottom - top < 20
    # The cell under the pointer stays there while the map grows around it.
    page.mouse.move(*_screen(page, at["x"] + 1, at["y"]))
    row, column = view.rows.index(_named(page, 0)), view.columns.index(_named(page, 1))
    assert abs(row - 200) <= 1 and abs(column - 300) <= 1
    assert _value(tooltip(page)) == pytest.approx(view.patterns[0, 1, row, column], rel=0.06, abs=5e-4)
    # Dragging moves the map with the pointer.
    page.mouse.down()
    page.mouse.move(*_screen(page, at["x"] + 101, at["y"]), steps=5)
    page.mouse.up()
    assert view.columns.index(_named(page, 1)) == column
    moved = [int(n) for n in re.findall(r"columns (\d+) to (\d+)", where.inner_text())[0]]
    assert moved[0] < left
    canvas.dblclick(position=at)
    expect(where).to_contain_text("512 × 512 tokens")


def test_few_rows_that_look_at_many_columns_keep_a_height(page: Page, opened: Opened) -> None:
    opened(page, case="wide")
    view, where = case("wide"), page.locator(".where")
    expect(where).to_contain_text("10 × 400 tokens")
    top, bottom = cell(page, 0, 0), cell(page, 9, 399)
    assert bottom["y"] - top["y"] > 150 and 150 < bottom["x"] - top["x"] < page.locator(MAP).bounding_box()["width"]  # type: ignore[index]
    page.locator(MAP).hover(position=cell(page, 7, 250))
    row, column = view.rows.index(_named(page, 0)), view.columns.index(_named(page, 1))
    assert row == 7 and abs(column - 250) <= 1
    assert _value(tooltip(page)) == pytest.approx(view.patterns[0, 1, row, column], rel=0.06, abs=5e-4)
    for _ in range(4):
        page.mouse.wheel(0, -200)
    expect(where).to_have_text(re.compile(r"Rows 1 to 10 of 10, columns \d+ to \d+ of 400"))
    assert view.rows.index(_named(page, 0)) == 7 and abs(view.columns.index(_named(page, 1)) - 250) <= 1


def test_512_tokens_zoom_by_keys_and_buttons(page: Page, opened: Opened) -> None:
    opened(page, case="1x2x512")
    where = page.locator(".where")
    page.locator(MAP).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("+")
    expect(where).to_contain_text("of 512, columns 1 to")
    page.keyboard.press("0")
    expect(where).to_contain_text("512 × 512 tokens")
    page.get_by_role("button", name="Zoom in").click()
    expect(where).to_contain_text("of 512, columns")
    page.get_by_role("button", name="Show the whole map").click()
    expect(where).to_contain_text("512 × 512 tokens")


def test_the_wheel_scrolls_the_page_while_the_whole_map_is_shown(page: Page, opened: Opened) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    opened(page, case="1x2x300")
    page.locator(MAP).hover(position=cell(page, 20, 20))
    before = page.locator(MAP).bounding_box()
    page.mouse.wheel(0, 150)
    page.wait_for_timeout(300)
    after = page.locator(MAP).bounding_box()
    assert before is not None and after is not None and after["y"] < before["y"]
    expect(page.locator(".where")).to_contain_text("300 × 300 tokens")


def _screen(page: Page, x: float, y: float) -> tuple[float, float]:
    box = page.locator(MAP).bounding_box()
    assert box is not None
    return box["x"] + x, box["y"] + y


def _named(page: Page, which: int) -> str:
    return page.locator(".map .tip b").nth(which).inner_text()


def _value(text: str) -> float:
    match = re.search(r"(\d\.\d+) \d+\w\w in its row", text)
    assert match is not None, text
    return float(match[1].replace("−", "-"))
