"""A whole head as matrices in a real Chromium: what only a browser can show of it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Opener = Callable[..., Page]


def test_the_matrices_on_a_phone(new_page: Opener, app_url: str, idle: Callable[[Page], None]) -> None:
    """By the keys, with the choice in the address; what is wider than the screen scrolls in its own place."""
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{app_url}/anatomy?look=matrices&kind=decoder&layer=1&head=1&query=3")
    weights = page.get_by_role("region", name="Weights")
    expect(weights.get_by_role("rowheader")).not_to_have_count(0)
    idle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("radio", name="I LOVE PYTHON").press("Enter")
    expect(weights.get_by_role("rowheader")).to_have_text(["I", "LOVE", "PYTHON"])
    page.get_by_role("radiogroup", name="Mask").get_by_role("radio", name="None").press("Enter")
    row = weights.get_by_role("row").filter(has=page.get_by_role("rowheader", name="I", exact=True))
    expect(row.get_by_role("cell")).to_have_text(["0.3064", "0.3530", "0.3406"])
    expect(page).to_have_url(re.compile(r"matrices=tutorial.*mask=none"))
    weights.focus()
    expect(weights).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
