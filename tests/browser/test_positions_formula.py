"""The formula of the Positions page: another dimension is worked out, and a link keeps it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from headlight.analysis.positions import entry


def test_another_dimension_is_worked_out_and_kept_in_the_address(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/positions?model=en-fr&word=3&dim=40")
    box = page.get_by_label("Dimension", exact=True)
    box.wait_for(timeout=60_000)
    expect(page.get_by_text(f"The model's own table has {entry(3, 40, 256).value:.4f} there")).to_be_visible()
    box.press("ArrowUp")
    box.press("Enter")
    expect(page.get_by_text(f"The model's own table has {entry(3, 41, 256).value:.4f} there")).to_be_visible()
    expect(page).to_have_url(re.compile(r"(?=.*word=3)(?=.*dim=41)"))
