"""The pages on models of other families and on imported ones, in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect
from transformers import T5Config, T5ForConditionalGeneration

from tests.checkpoints.hugging_face import piece_model
from tests.checkpoints.test_hugging_face_tokenizers import marian_folder
from tests.checkpoints.tutorials import answers, file
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
    import_model(their_t5(tmp_path_factory.mktemp("theirs")), models / "t5")
    import_model(file("ground-up"), models / "ground-up", answers("ground-up", sos_id=2, eos_id=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
        patch.setenv("HEADLIGHT_MODELS", str(models))
        with serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt") as address:
            yield address


def their_t5(folder: Path) -> Path:
    """A tiny T5 as `transformers` saves it, with its SentencePiece model."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "d_model": 16,
        "d_kv": 6,
        "d_ff": 20,
        "num_layers": 2,
        "num_decoder_layers": 3,
        "num_heads": 2,
    }
    config = T5Config(vocab_size=200, **sizes, feed_forward_proj="gated-gelu", decoder_start_token_id=0)
    T5ForConditionalGeneration(config).save_pretrained(folder / "m")
    piece_model(folder, "spiece").rename(folder / "m" / "spiece.model")
    return folder / "m"


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
    expect(page.get_by_text("Gate, a third linear layer", exact=True)).to_be_visible()
    go(page, f"{url}/positions?model=a-t5&{TEXT}")
    expect(page.get_by_text("Every distance has its own bias")).to_be_visible()
    expect(page.locator(".st-key-bias-encoder .main-svg").first).to_be_visible()
    go(page, f"{url}/?model=a-t5&{TEXT}")
    expect(page.get_by_text("Checks: 5 of 5 hold")).to_be_visible()
    go(page, f"{url}/decoding?model=a-t5&text=two%20dogs")
    expect(page.get_by_text("Attention of this step")).to_be_visible()


def test_a_model_built_as_bart_is_goes_through_every_page(dark_page: Page, url: str) -> None:
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
    go(page, f"{url}/?model=b-bart&{TEXT}")
    expect(page.get_by_text("Checks: 5 of 5 hold")).to_be_visible()
    go(page, f"{url}/decoding?model=b-bart&text=two%20dogs")
    expect(page.get_by_text("Attention of this step")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "text", "words", "start", "title"),
    [
        ("marian", "the girl walks on snow", 5, "<pad>", "Hugging Face Marian"),
        ("t5", "the girl walks", 3, "<unk>", "Hugging Face T5"),
        ("ground-up", "5 9 12 7 30", 5, "2", "Tutorial “Building a transformer from the ground up”"),
    ],
)
def test_an_imported_model_goes_through_every_page(
    page: Page, url: str, name: str, text: str, words: int, start: str, title: str
) -> None:
    """The text as it is read and written again; what a person does on each page first."""
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
    expect(page.locator(".stop").first).to_have_text(start)
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
    expect(page.locator(".line.on")).to_contain_text(title)
    page.locator(".st-key-blocks .block").last.click()
    wait_until_idle(page)
    expect(page.locator(".st-key-weight-histogram .main-svg, .plot .main-svg").first).to_be_visible()
    box = page.get_by_role("textbox", name="Text for the tokenizer")
    box.fill(text)
    box.press("Enter")
    expect(page.get_by_text(f"{words} words")).to_be_visible()
    go(page, f"{url}/checkpoints?{of}&beside=b-bart")
    expect(page.locator(".configurations")).to_contain_text("Layers")
