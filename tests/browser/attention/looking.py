"""The Attention page in the browser: opening it, its controls, and the numbers that it draws."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Locator, Page, ViewportSize

from tools.serving import wait_until_idle

HEAD = ".st-key-head .hl"


def go(page: Page, url: str) -> Page:
    page.goto(url)
    page.locator(".thumb").first.wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


def resize(page: Page, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    page.wait_for_function("width => document.querySelector('.stApp').clientWidth === width", arg=size["width"])
    wait_until_idle(page)


def drawn(page: Page) -> np.ndarray:
    """The values that the large map draws, as the browser has them: [Q, K], masked cells NaN."""
    return np.array(
        page.locator(HEAD).evaluate(
            """root => {
              const { header, weights, masked } = root.view, K = header.columns.length;
              const cell = at => (masked[at] ? null : weights[at]);
              return header.rows.map((_, q) => header.columns.map((_, k) => cell(q * K + k)));
            }"""
        ),
        dtype=np.float64,
    )


def over(page: Page, q: int, k: int) -> None:
    """Moves the pointer over a cell of the large map."""
    canvas = page.locator(".map canvas")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    canvas.hover(position={"x": x + (k + 0.5) * across, "y": y + (q + 0.5) * down})


def agree(page: Page, expected: np.ndarray, apart: float = 1e-6) -> None:
    """The picture shows these weights, after at most a few seconds of drawing."""
    for _ in range(100):
        cells = drawn(page)
        if cells.shape == expected.shape and np.allclose(np.nan_to_num(cells), expected, atol=apart):
            return
        page.wait_for_timeout(100)
    assert cells.shape == expected.shape
    assert np.allclose(np.nan_to_num(cells), expected, atol=apart)


def thumb(page: Page, layer: int, head: int) -> Locator:
    return page.locator(f'.thumb[aria-label^="Layer {layer}, head {head},"]')


def kind(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("radio", name=name).or_(
        page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)
    ).first.click()
    wait_until_idle(page)


def type_sentence(page: Page, text: str) -> None:
    box = page.get_by_role("textbox").first
    box.fill(text)
    box.press("Enter")
    page.wait_for_timeout(300)
    wait_until_idle(page)
