"""What the Anatomy page draws of models of other families, in a real Chromium.

tests/ui/test_other_families.py opens every page on each of them without one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from headlight import checkpoints
from tests.small import small_bart_checkpoint, small_t5_checkpoint
from tools.serving import wait_until_idle

TEXT = "text=a%20little%20girl%20is%20sitting&target=two%20dogs%20are%20running"


@pytest.fixture(scope="module")
def url(small_models: Path, small_url: str) -> Iterator[str]:
    checkpoints.save(small_t5_checkpoint(), small_models / "small-t5")
    checkpoints.save(small_bart_checkpoint(), small_models / "small-bart")
    yield small_url
    for name in ("small-t5", "small-bart"):
        shutil.rmtree(small_models / name)


def go(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_test_id("stMain").wait_for(timeout=60_000)
    wait_until_idle(page)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def agrees(page: Page) -> None:
    """The line below a head: its numbers beside the model's own."""
    caption = page.locator(".check").first.inner_text()
    match = re.search(r"weights within ([\de.−]+), output within ([\de.−]+)", caption)
    assert match is not None, caption
    assert all(float(number.replace("−", "-")) < 1e-5 for number in match.groups())


def test_the_stages_of_a_t5(page: Page, url: str) -> None:
    go(page, f"{url}/anatomy?model=small-t5&{TEXT}&kind=decoder&stage=4&layer=2")
    expect(page.locator(".stage-head.open")).to_contain_text("Add the position bias")
    agrees(page)
    page.get_by_role("switch", name="Without the position bias").click()
    expect(page.locator(".note")).to_contain_text("what this head would do without the position bias")
    go(page, f"{url}/anatomy?model=small-t5&{TEXT}&kind=cross&stage=4")
    expect(page.locator(".stage-head.open")).to_contain_text("Not scaled")
    expect(page.get_by_role("switch", name="Without scaling")).to_be_disabled()
    agrees(page)


def test_the_stages_of_a_model_built_as_bart_is(dark_page: Page, url: str) -> None:
    page = dark_page
    go(page, f"{url}/anatomy?model=small-bart&{TEXT}&kind=encoder&stage=1")
    agrees(page)
    expect(page.locator(".words")).to_contain_text("the stored vector of its position says where")
    expect(page.locator(".words")).to_contain_text("the norm of their sum")
    expect(page.locator(".stage-head.open msqrt")).to_have_count(0)
