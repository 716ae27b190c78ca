"""The pages on models of other families, in a real Chromium: a T5, and one that is built as BART is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

from tests.small import small_checkpoint, small_t5_checkpoint
from tools.serving import serve, wait_until_idle
from transformer import checkpoints

ROOT = Path(__file__).parents[2]
TEXT = "text=a%20little%20girl%20is%20sitting&target=two%20dogs%20are%20running"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    checkpoints.save(small_t5_checkpoint(), folder / "a-t5")
    bart = small_checkpoint(
        norm="post", final_norm=False, positions="stored", scale_embeddings=False, embedding_norm=True
    )
    with torch.no_grad():
        for stack in (bart.model.encoder, bart.model.decoder):
            stack.embedding.positions.table.normal_(std=0.5)
    checkpoints.save(bart, folder / "b-bart")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
        with serve(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt") as address:
            yield address


def go(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_test_id("stMain").wait_for(timeout=60_000)
    wait_until_idle(page)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def agrees(page: Page) -> None:
    """The line below a head: its numbers beside the model's own."""
    said = page.locator(".check").first.inner_text()
    found = re.search(r"weights within ([\de.−]+), output within ([\de.−]+)", said)
    assert found is not None, said
    assert all(float(number.replace("−", "-")) < 1e-5 for number in found.groups())


def test_a_t5_goes_through_every_page(page: Page, url: str) -> None:
    go(page, f"{url}/anatomy?model=a-t5&{TEXT}&kind=decoder&stage=4&layer=2")
    expect(page.locator(".stage-head.open")).to_contain_text("Add the position bias")
    agrees(page)
    page.get_by_role("switch", name="Without the position bias").click()
    expect(page.locator(".note")).to_contain_text("what this head would do without the position bias")
    go(page, f"{url}/anatomy?model=a-t5&{TEXT}&kind=cross&stage=4")
    expect(page.locator(".stage-head.open")).to_contain_text("Not scaled")
    expect(page.get_by_role("switch", name="Without scaling")).to_be_disabled()
    agrees(page)
    go(page, f"{url}/anatomy?model=a-t5&{TEXT}&part=ff&kind=encoder")
    expect(page.get_by_text("Gate, the third linear map")).to_be_visible()
    go(page, f"{url}/positions?model=a-t5&{TEXT}")
    expect(page.get_by_text("Every distance gets a bias of its own")).to_be_visible()
    expect(page.locator(".st-key-bias-encoder .main-svg").first).to_be_visible()
    go(page, f"{url}/?model=a-t5&{TEXT}")
    expect(page.get_by_text("Checks: 5 of 5 hold")).to_be_visible()
    go(page, f"{url}/decoding?model=a-t5&text=two%20dogs")
    expect(page.get_by_text("What it looks at for this step")).to_be_visible()


def test_a_model_built_as_bart_is_goes_through_every_page(dark_page: Page, url: str) -> None:
    page = dark_page
    go(page, f"{url}/anatomy?model=b-bart&{TEXT}&kind=encoder&stage=1")
    agrees(page)
    expect(page.locator(".words")).to_contain_text("the stored vector of its place says where")
    expect(page.locator(".words")).to_contain_text("the norm of their sum")
    expect(page.locator(".stage-head.open msqrt")).to_have_count(0)
    go(page, f"{url}/anatomy?model=b-bart&{TEXT}&part=embedding")
    expect(page.get_by_text("A norm then brings the sum to mean 0")).to_be_visible()
    go(page, f"{url}/positions?model=b-bart&{TEXT}&added=1")
    expect(page.get_by_text("Every position gets the vector that is stored for it")).to_be_visible()
    expect(page.get_by_text("A norm brings it to mean 0 and variance 1")).to_be_visible()
    go(page, f"{url}/?model=b-bart&{TEXT}")
    expect(page.get_by_text("Checks: 5 of 5 hold")).to_be_visible()
    go(page, f"{url}/decoding?model=b-bart&text=two%20dogs")
    expect(page.get_by_text("What it looks at for this step")).to_be_visible()
