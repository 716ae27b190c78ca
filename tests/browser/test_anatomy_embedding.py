"""A typed word is cut at an embedding, a BPE is learned, and words stand in a plane; links keep all of them."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from headlight.checkpoints import load_tokenizer
from headlight.corpora.cutting import Merges
from tools.serving import wait_until_idle

ROOT = Path(__file__).parents[2]


def test_a_typed_word_is_cut_and_a_bpe_is_learned_from_a_typed_text(page: Page, app_url: str) -> None:
    """Merge by merge; the address keeps both."""
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
    wait_until_idle(page)
    page.get_by_text("Learn a BPE from your own text").click()
    box = page.get_by_label("Text to learn from")
    box.fill("abab abab ab")
    box.press("Enter")
    merges = page.locator(".merges").first.locator("tbody tr")
    expect(merges.first).to_contain_text(re.compile(r"a \+ b\s*5"))  # the expander stays open
    expect(merges).to_have_count(3)
    slider = page.get_by_role("slider", name="Size of the vocabulary")
    slider.focus()
    slider.press("ArrowLeft")
    expect(merges).to_have_count(2)
    expect(page).to_have_url(re.compile("(?=.*cut=unbelievable)(?=.*learn=abab.*vocabulary=9)"))
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")


def test_typed_words_stand_in_a_plane_beside_their_scores(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/anatomy?model=en-fr&kind=encoder&layer=1&head=1&look=plane")
    box = page.get_by_label("Words", exact=True)
    box.wait_for(timeout=60_000)
    box.fill("apple, market, cellphone")
    box.press("Enter")
    expect(page.locator(".matrix tbody tr")).to_have_count(3)
    for alt in ("Embeddings: apple, market, cellphone", "Queries and keys: apple, market, cellphone"):
        expect(page.get_by_role("img", name=alt)).to_be_visible()
    expect(page).to_have_url(re.compile("plane=apple"))
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
