"""The Checkpoints page as a person uses it, in a real Chromium."""

from __future__ import annotations

import io
import os
import pickle
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.forked import serve_forked
from tests.small import small_checkpoint
from tools.serving import wait_until_idle
from transformer import StackConfig, checkpoints, load
from transformer.model import count_parameters

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "tests" / "fixtures" / "tutorial-checkpoints" / "ground-up" / "transformer_weights.pth"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models that differ in depth and tokenizer, one with a hostile name, and a broken folder."""
    folder = tmp_path_factory.mktemp("places")
    small = small_checkpoint()
    small.card |= {"examples": ["two dogs are running ."], "command": "python -m transformer train --data x"}
    checkpoints.save(small, folder / "checkpoints" / "a-small")
    other = small_checkpoint("bpe", seed=1, encoder=StackConfig(1, 2, 16), decoder=StackConfig(4, 4, 16))
    checkpoints.save(other, folder / "models" / HOSTILE)
    shutil.copytree(folder / "checkpoints" / "a-small", folder / "checkpoints" / "broken")
    (folder / "checkpoints" / "broken" / "model.safetensors").write_bytes(os.urandom(500))
    return folder


@pytest.fixture(scope="module")
def shelves(places: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(places / "checkpoints"))
        patch.setenv("HEADLIGHT_MODELS", str(places / "models"))
        with serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("shelves") / "log.txt") as address:
            yield address


def go(page: Page, address: str, query: str = "") -> Page:
    page.goto(f"{address}/checkpoints{query}")
    page.get_by_role("heading", name="Checkpoints", exact=True).wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


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
    expect(page.get_by_text("python -m transformer train --data x")).to_be_visible()
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


def test_two_models_of_unequal_depth(dark_page: Page, shelves: str) -> None:
    page = go(dark_page, shelves)
    expect(page.get_by_role("button", name="Compare two")).to_be_disabled()
    for name in ("a-small", HOSTILE):
        line(page, name).locator("input").check()
    page.get_by_role("button", name="Compare 2 chosen").click()
    expect(page.get_by_text("The rows do not line up")).to_be_visible(timeout=30_000)
    wait_until_idle(page)
    page.get_by_test_id("stCheckbox").get_by_text("The same translation in both").click()
    box = page.get_by_role("textbox", name="Words for both")
    box.fill("two dogs")
    box.press("Enter")
    expect(page.get_by_text("Difference, second minus first")).to_be_visible(timeout=30_000)
    wait_until_idle(page)
    expect(page.locator(".plot .main-svg")).not_to_have_count(0)
    expect(page.get_by_text(re.compile(r"layer \d of 4, head \d of 4"))).to_be_visible()
    expect(page.locator(".configurations")).to_contain_text("1 and 4")
    expect(page.get_by_text("Pieces are joined into words")).to_be_visible()
    layer = page.get_by_role("combobox", name="Second model, layer")
    other = 1 if layer.input_value() != "1 of 4" else 3  # not the one that the page chose
    layer.click()
    page.get_by_role("option", name=f"{other} of 4").click()
    expect(page).to_have_url(re.compile(rf"beside_layer={other}"))
    page.reload()
    wait_until_idle(page)
    expect(page.get_by_text(re.compile(rf"layer {other} of 4, head \d of 4"))).to_be_visible()


def test_a_tutorial_file_from_the_upload_to_its_attention(page: Page, shelves: str, places: Path) -> None:
    go(page, shelves)
    page.get_by_role("button", name="Import a model").click()
    page.locator("input[type=file]").first.set_input_files(TUTORIAL)
    expect(page.get_by_text("This is the model of “Building a transformer from the ground up”")).to_be_visible(
        timeout=30_000
    )
    wait_until_idle(page)
    button = page.get_by_role("button", name="Import", exact=True)
    expect(button).to_be_disabled()
    expect(page.get_by_text("Answer this to import: How many heads")).to_be_visible()
    expect(page.get_by_text("Are its attention masks applied?").first).to_be_visible()
    expect(page.get_by_role("radio", name="never", exact=True)).to_be_checked()
    page.get_by_role("radio", name="4", exact=True).click()
    for question, id in (("is padding", "1"), ("starts a sentence", "2"), ("ends a sentence", "3")):
        expect(page.get_by_text("Answer this to import")).to_contain_text(question)
        wait_until_idle(page)  # a number that is entered while the page is redrawn is now and then not taken in
        box = page.get_by_role("spinbutton", name=re.compile(question))
        box.fill(id)
        box.press("Enter")
    expect(page.get_by_text("No vocabulary came with it")).to_be_visible(timeout=30_000)
    button.click()
    expect(page.get_by_role("heading", name="models/transformer_weights", exact=True)).to_be_visible(timeout=60_000)
    assert not list((places / "models" / ".uploads").iterdir())
    wait_until_idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
        page.get_by_role("button", name="Headlight folder, as a zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        assert "transformer_weights/model.safetensors" in archive.namelist()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Attention", exact=True).click()
    box = page.get_by_role("textbox", name=re.compile("sentence"))
    box.fill("5 9 12 7")
    box.press("Enter")
    page.locator(".thumb").first.wait_for(timeout=60_000)
    expect(page.locator(".thumb")).to_have_count(2 * 4)
    expect(page.get_by_text("This model applies no mask")).to_have_count(1)
    # And away with it.
    go(page, shelves, "?model=models%2Ftransformer_weights")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_test_id("stDialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".line[data-id]")).to_have_count(3)
    assert not (places / "models" / "transformer_weights").exists()


class Program:
    """What a malicious file holds: unpickled, it would make a folder."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("ran",)


def test_what_would_run_is_refused(dark_page: Page, shelves: str, tmp_path: Path) -> None:
    page = go(dark_page, shelves, "?bring=1")
    content = io.BytesIO()
    pickle.dump({"weights": Program()}, content)
    for name, data in (("evil.pt", content.getvalue()), ("noise.bin", os.urandom(900)), ("zero.pt", b"")):
        (tmp_path / name).write_bytes(data)
        page.locator("input[type=file]").first.set_input_files(tmp_path / name)
        expect(page.locator(".st-key-refused")).to_contain_text(name, timeout=30_000)
        if name == "evil.pt":
            expect(page.locator(".st-key-refused")).to_contain_text("mkdir")
            expect(page.locator(".st-key-refused")).to_contain_text("torch.save(model.state_dict()")
    assert not (ROOT / "ran").exists()
    box = page.get_by_role("textbox", name=re.compile("Hub model ID"))
    box.fill("no such place")
    box.press("Enter")
    expect(page.locator(".st-key-refused")).to_contain_text("There is nothing at this path")
