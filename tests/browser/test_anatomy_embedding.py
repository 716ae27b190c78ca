"""A typed word is cut at an embedding, by the model that ships, and a link keeps it."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from headlight.checkpoints import load_tokenizer
from headlight.corpora.cutting import Merges

ROOT = Path(__file__).parents[2]


def test_a_typed_word_is_cut_merge_by_merge_and_kept_in_the_address(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/anatomy?model=en-fr&part=embedding&kind=encoder&query=3")
    box = page.get_by_label("Word to cut")
    box.wait_for(timeout=60_000)
    box.fill("unbelievable")
    box.press("Enter")
    merges = Merges(load_tokenizer(ROOT / "checkpoints" / "en-fr" / "tokenizer.json"))
    (cut,) = merges.cut("unbelievable")
    expect(page.locator(".cut tr")).to_have_count(1 + len(cut.merges))
    expect(page.locator(".cut tr").last.locator("td").last).to_have_text("".join(cut.pieces))
    expect(page.get_by_text("The tokenizer's own encoding is the same")).to_be_visible()
    expect(page).to_have_url(re.compile("cut=unbelievable"))
    expect(page.locator(".near tr")).to_have_count(6)
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
