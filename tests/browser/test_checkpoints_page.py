"""The shelf of the Checkpoints page as a person uses it, in a real Chromium.

tests/ui/checkpoints/test_page.py has what follows a choice: a comparison, and a file from the upload to its attention.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from headlight import checkpoints
from tests.browser.served import open_page, serve_app
from tests.small import small_checkpoint
from tools.serving import wait_until_idle
from transformer import StackConfig, load
from transformer.model import count_parameters

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that differ in depth and tokenizer, one with a hostile name, and a broken folder."""
    folder = tmp_path_factory.mktemp("places")
    small = small_checkpoint()
    small.card |= {"examples": ["two dogs are running ."], "command": "python -m headlight train --data x"}
    checkpoints.save(small, folder / "checkpoints" / "a-small")
    other = small_checkpoint("bpe", seed=1, encoder=StackConfig(1, 2, 16), decoder=StackConfig(4, 4, 16))
    checkpoints.save(other, folder / "models" / HOSTILE)
    shutil.copytree(folder / "checkpoints" / "a-small", folder / "checkpoints" / "broken")
    (folder / "checkpoints" / "broken" / "model.safetensors").write_bytes(os.urandom(500))
    return folder


@pytest.fixture(scope="module")
def shelves(places: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("shelves") / "log.txt"
    with serve_app(log, checkpoints=places / "checkpoints", models=places / "models") as address:
        yield address


def go(page: Page, address: str, query: str = "") -> Page:
    return open_page(page, f"{address}/checkpoints{query}", "Checkpoints", exact=True)


def line(page: Page, name: str) -> Locator:
    return page.locator(".line[data-id]").filter(has_text=name)


def test_the_shelf_and_one_model(page: Page, shelves: str, places: Path) -> None:
    go(page, shelves)
    expect(page.locator(".line[data-id]")).to_have_count(3)
    expect(line(page, "broken")).to_contain_text("model.safetensors is not a complete safetensors file")
    expect(line(page, "a-small")).to_have_class("line on")
    count = count_parameters(load(places / "checkpoints" / "a-small").model)
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{count:,}")
    expect(page.get_by_test_id("stMetricValue").last).to_have_text("Sound")
    expect(page.get_by_text("python -m headlight train --data x")).to_be_visible()
    # A part of the picture, by mouse and by keyboard; a reload shows it again.
    page.locator('.block[data-path="encoder.layers.1.feed_forward"]').click()
    expect(page).to_have_url(re.compile(r"weight=encoder.layers.1.feed_forward"))
    expect(page.locator(".st-key-blocks .block.chosen")).to_have_attribute("data-path", "encoder.layers.1.feed_forward")
    page.locator(".block.chosen").press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"weight=encoder.layers.1(&|$)"))
    page.reload()
    wait_until_idle(page)
    expect(page.locator(".block.chosen")).to_have_attribute("data-path", "encoder.layers.1")
    # The tokenizer.
    box = page.get_by_role("textbox", name="Text for the tokenizer")
    box.fill("two <b>dogs</b> ☃")
    box.press("Enter")
    expect(page.locator(".piece").first).to_contain_text("two")
    expect(page.get_by_text("unknown (dashed)")).to_be_visible()
    # Another model, found by its hostile name.
    page.get_by_role("searchbox").fill("IMG")
    expect(page.locator(".line[data-id]")).to_have_count(1)
    line(page, HOSTILE).click()
    expect(page).to_have_url(re.compile(r"model=models%2F%3Cimg"))
    expect(page.get_by_role("heading", name=f"models/{HOSTILE}", exact=True)).to_be_visible()
    # Two of them side by side, one that is deleted, and the way to one from elsewhere.
    page.get_by_role("searchbox").fill("")
    expect(page.get_by_role("button", name="Compare two")).to_be_disabled()
    for name in ("a-small", HOSTILE):
        line(page, name).locator("input").check()
    page.get_by_role("button", name="Compare 2 chosen").click()
    expect(page.get_by_text("The rows do not line up")).to_be_visible(timeout=30_000)
    expect(page.locator(".st-key-map-1 .main-svg")).not_to_have_count(0)
    page.get_by_role("button", name="Back to the models").click()
    line(page, HOSTILE).click()
    wait_until_idle(page)  # a run of the page closes the menu
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_test_id("stDialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".line[data-id]")).to_have_count(2)
    assert not (places / "models" / HOSTILE).exists()
    page.get_by_role("button", name="Import a model").click()
    expect(page).to_have_url(re.compile("importing=1"))
