"""What the pages draw of models of other families, and an imported one on every page, in a real Chromium.

tests/ui/test_other_families.py opens every page on each of them without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Page, expect

from tests.checkpoints.test_hugging_face_tokenizers import marian_folder
from tests.forked import serve_forked
from tests.small import small_checkpoint, small_t5_checkpoint
from tools.serving import wait_until_idle
from transformer import checkpoints
from transformer.checkpoints.importing import import_model

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
    models = tmp_path_factory.mktemp("models")
    import_model(marian_folder(tmp_path_factory.mktemp("theirs")), models / "marian")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
        patch.setenv("HEADLIGHT_MODELS", str(models))
        with serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt") as address:
            yield address


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


def test_the_anatomy_and_the_positions_of_a_t5(page: Page, url: str) -> None:
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
    expect(page.get_by_text("Gate, a third linear layer", exact=True)).to_be_visible()
    go(page, f"{url}/positions?model=a-t5&{TEXT}")
    expect(page.get_by_text("Every distance has its own bias")).to_be_visible()
    expect(page.locator(".st-key-bias-encoder .main-svg").first).to_be_visible()


def test_the_anatomy_and_the_positions_of_a_model_built_as_bart_is(dark_page: Page, url: str) -> None:
    page = dark_page
    go(page, f"{url}/anatomy?model=b-bart&{TEXT}&kind=encoder&stage=1")
    agrees(page)
    expect(page.locator(".words")).to_contain_text("the stored vector of its position says where")
    expect(page.locator(".words")).to_contain_text("the norm of their sum")
    expect(page.locator(".stage-head.open msqrt")).to_have_count(0)
    go(page, f"{url}/anatomy?model=b-bart&{TEXT}&part=embedding")
    expect(page.get_by_text("Layer norm then brings the sum to mean 0")).to_be_visible()
    go(page, f"{url}/positions?model=b-bart&{TEXT}&added=1")
    expect(page.get_by_text("Every position gets the vector that is stored for it")).to_be_visible()
    expect(page.get_by_text("Layer norm brings the sum to mean 0 and variance 1")).to_be_visible()


def test_an_imported_model_goes_through_every_page(page: Page, url: str) -> None:
    """The text as it is read and written again; what a person does on each page first."""
    name, text = "marian", "the girl walks on snow"
    of = f"model=models%2F{name}&text={text.replace(' ', '%20')}"
    read = f"{of}&target={text.replace(' ', '%20')}"
    # Attention: another head, one switched off, words.
    go(page, f"{url}/?{read}&kind=cross")
    expect(page.get_by_text("Checks: 5 of 5 hold")).to_be_visible()
    page.locator(".thumb").first.click()
    expect(page).to_have_url(re.compile("layer=1.*head=1|head=1.*layer=1"))
    page.get_by_text("Whole words").click()
    wait_until_idle(page)
    expect(page.locator(".thumb")).not_to_have_count(0)
    page.get_by_role("button", name="1", exact=True).first.click()  # layer 1, head 1
    expect(page.get_by_role("button", name="Switch it on again")).to_be_visible(timeout=30_000)
    # Decoding: the beam, another word, another look.
    go(page, f"{url}/decoding?{of}")
    expect(page.locator(".stop").first).to_have_text("<pad>")
    expect(page.locator(".treebox")).to_be_visible()
    page.locator("button.candidate").first.click()  # neither the chosen one nor one that is never written
    expect(page.locator(".card")).to_have_count(2, timeout=30_000)
    page.get_by_role("button", name="Point it at another word").click()
    page.locator(".words.pickable .word").nth(1).click()
    expect(page.locator(".card")).to_have_count(3, timeout=30_000)
    # Positions and Anatomy.
    go(page, f"{url}/positions?{of}")
    expect(page.get_by_text("The same words in another order")).to_be_visible()
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
    for kind in ("encoder", "cross"):
        go(page, f"{url}/anatomy?{read}&kind={kind}&stage=4")
        agrees(page)
    # Training does not lose the model, and Checkpoints shows all of it.
    go(page, f"{url}/training?{of}")
    expect(page.get_by_role("button", name="New run")).to_be_visible()
    go(page, f"{url}/checkpoints?{of}")
    expect(page.get_by_role("heading", name=f"models/{name}", exact=True)).to_be_visible()
    expect(page.locator(".line.on")).to_contain_text("Hugging Face Marian")
    page.locator(".st-key-blocks .block").last.click()
    wait_until_idle(page)
    expect(page.locator(".st-key-weight-histogram .main-svg, .plot .main-svg").first).to_be_visible()
    box = page.get_by_role("textbox", name="Text for the tokenizer")
    box.fill(text)
    box.press("Enter")
    expect(page.get_by_text("5 words")).to_be_visible()
    go(page, f"{url}/checkpoints?{of}&beside=b-bart")
    expect(page.locator(".configurations")).to_contain_text("Layers")
