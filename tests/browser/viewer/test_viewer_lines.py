"""The line view in a real browser: chips, the share that is hidden, one token alone, and the chart beside it."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.viewer.looking import MAP, cell
from tests.browser.viewer.patterns import case

Opened = Callable[..., Page]
CROSS = case("cross")


def hidden_share(patterns: np.ndarray, mass: float) -> float:
    """Return the share of [H, Q, K] that is not drawn when each row draws its largest weights up to `mass`."""
    ordered = -np.sort(-patterns.astype(np.float64), axis=-1)
    before = np.cumsum(ordered, -1) - ordered
    total = ordered.sum(-1, keepdims=True)
    drawn = np.where(before < (mass - 1e-6) * total, ordered, 0)
    return float(1 - drawn.sum() / total.sum())


def sentence(page: Page) -> str:
    return page.locator(".share output").inner_text().replace("\u00a0", " ")


def expected(patterns: np.ndarray, mass: float) -> str:
    share = hidden_share(patterns, mass)
    text = "under 1 %" if 1e-5 < share < 0.005 else f"{int(share * 100 + 0.5)} %"
    return f"The strongest {round(mass * 100)} % of each row is drawn, {text} hidden"


def shown(page: Page, heads: str, mass: str = "0.90") -> None:
    expect(page.get_by_text(f"heads {heads} mass {mass}")).to_be_visible()


def test_chips_toggle_solo_and_never_leave_nothing(page: Page, opened: Opened) -> None:
    opened(page)
    chips = page.locator(".chip")
    shown(page, "[1, 2]")
    chips.nth(0).click()
    shown(page, "[0, 1, 2]")
    expect(chips.nth(0)).to_have_attribute("aria-pressed", "true")
    assert sentence(page) == expected(CROSS.patterns[1, :3], 0.9)
    chips.nth(1).click()
    shown(page, "[0, 2]")
    chips.nth(3).dblclick()
    shown(page, "[3]")
    assert [c.get_attribute("aria-pressed") for c in chips.all()] == ["false", "false", "false", "true"]
    chips.nth(3).click()
    page.wait_for_timeout(400)
    shown(page, "[3]")
    chips.nth(2).focus()
    page.keyboard.press("Space")
    shown(page, "[2, 3]")


@pytest.mark.parametrize("name", ["cross", "decoder", "encoder"])
def test_the_sentence_tells_the_true_hidden_share(page: Page, opened: Opened, name: str) -> None:
    opened(page, case=name)
    weights = case(name).patterns[1, [1, 2]]
    assert sentence(page) == expected(weights, 0.9)
    for percent in (50, 75, 99, 100):
        page.locator(".share input").fill(str(percent))
        assert sentence(page) == expected(weights, percent / 100)
        shown(page, "[1, 2]", f"{percent / 100:.2f}")


def test_another_head_in_the_overview_starts_the_lines_again(page: Page, opened: Opened) -> None:
    opened(page)
    page.locator(".chip").nth(3).click()
    shown(page, "[1, 2, 3]")
    page.locator('.thumb[aria-label^="Layer 1, head 1,"]').click()
    shown(page, "[0]")
    expect(page.locator(".chip[aria-pressed=true]")).to_have_text(["1"])
    assert sentence(page) == expected(CROSS.patterns[0, :1], 0.9)


def test_a_token_is_isolated_by_pointer_and_by_keys(page: Page, opened: Opened) -> None:
    opened(page)
    page.locator(".chip").nth(2).dblclick()
    shown(page, "[2]")
    page.locator(".side.left").hover(position={"x": 40, "y": 15})
    expect(page.locator(".token.chosen")).to_have_text(["Une"])
    expect(page.locator("canvas.over")).to_be_visible()
    page.mouse.move(5, 5)
    expect(page.locator(".token.chosen")).to_have_count(0)
    page.locator(".side.left").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".token.chosen")).to_have_text(["est"])
    row = CROSS.patterns[1, 2, 3]
    best = int(row.argmax())
    expect(page.locator("[aria-live]").filter(has_text="est:")).to_contain_text(
        f"head 3 at {CROSS.columns[best]} {row[best]:.3f}"
    )
    page.keyboard.press("Escape")
    expect(page.locator(".token.chosen")).to_have_count(0)


def test_rows_are_named_for_what_they_read_and_write(page: Page, opened: Opened) -> None:
    opened(page, case="decoder")
    expect(page.locator(".titles span").first).to_have_text("writes")
    expect(page.locator(".side.left .token").first).to_have_attribute("title", "reads [SOS], writes Une")
    opened(page, case="encoder")
    expect(page.locator(".titles span").first).to_have_text("from")


def test_beyond_eight_heads_chips_carry_numbers_and_stripes(page: Page, opened: Opened) -> None:
    opened(page, case="2x16x12")
    chips = page.locator(".chip")
    assert [c.inner_text() for c in chips.all()] == [str(n) for n in range(1, 17)]
    dots = [c.locator("i").evaluate("e => e.style.background") for c in chips.all()]
    assert len(set(dots)) == 16
    assert all(("gradient" in dot) == (head >= 8) for head, dot in enumerate(dots))


def test_a_long_text_scrolls_in_a_window(page: Page, opened: Opened) -> None:
    opened(page, case="1x2x200")
    stage = page.locator(".stage")
    expect(stage).to_have_class(re.compile("scrolls"))
    box = stage.bounding_box()
    assert box is not None and box["height"] <= 640
    page.locator(".side.left").focus()
    page.keyboard.press("End")
    expect(page.locator(".side.left .token.chosen")).to_be_in_viewport()
    expect(page.locator(".side.left .token.chosen")).to_have_text(case("1x2x200").rows[-1])


# ---- beside the map of one head ----------------------------------------------------------------------


def stands_level(page: Page, row: int) -> None:
    for _ in range(100):  # the lines follow the map when it has its size
        canvas, box = page.locator(MAP).bounding_box(), page.locator(".side.left .token").nth(row).bounding_box()
        assert box is not None and canvas is not None
        apart = abs(box["y"] + box["height"] / 2 - canvas["y"] - cell(page, row, 0)["y"])
        if apart < 2:
            return
        page.wait_for_timeout(50)
    pytest.fail(f"row {row} is {apart:.1f} pixels away from the map's")


def test_rows_stand_level_with_the_map_whatever_moves_above_them(page: Page, opened: Opened) -> None:
    """A label that gets its text late moves what stands below it, and changes neither's size."""
    opened(page)
    for row in (0, 4, 9):
        stands_level(page, row)
    titles = page.get_by_test_id("stMarkdown")
    for above in (page.get_by_test_id("stCheckbox"), titles.filter(has_text="Layer 2, head 3")):
        for pixels in (30, 0):
            above.evaluate("(e, pixels) => { e.style.paddingTop = `${pixels}px`; }", pixels)
            stands_level(page, 0)


def test_lines_that_come_after_the_map_find_it_and_what_was_chosen(page: Page, opened: Opened) -> None:
    """A map that was there first used to be drawn beside lines that had not been chosen yet."""
    opened(page)
    page.locator(".chip").nth(3).dblclick()
    shown(page, "[3]")
    page.get_by_text("Show lines").click()
    expect(page.locator(".chip")).to_have_count(0)
    page.get_by_text("Show lines").click()
    expect(page.locator(".chip[aria-pressed=true]")).to_have_text(["4"])
    page.locator(MAP).hover(position=cell(page, 3, 6))
    expect(page.locator(".side.left .token.chosen")).to_have_text("est")
