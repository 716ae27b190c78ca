"""The Why page as a person uses it, in a real Chromium, on a small untrained checkpoint."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from headlight import checkpoints
from headlight.analysis import why
from headlight.analysis.sites import by_kind
from headlight.checkpoints import load_translator
from tests.small import TEXTS, small_checkpoint
from tools.serving import wait_until_idle
from transformer import Translator

ROOT = Path(__file__).parents[2]
TEXT, OTHER = TEXTS[0], TEXTS[0].replace("little", "dogs")


@pytest.fixture(scope="module")
def model(small_models: Path) -> Iterator[Translator]:
    folder, checkpoint = small_models / "small-why", small_checkpoint(norm="post", final_norm=False)
    checkpoint.card["examples"] = TEXTS[:2]
    checkpoints.save(checkpoint, folder)
    yield load_translator(folder)
    shutil.rmtree(folder)


@pytest.fixture
def why_url(model: Translator, small_url: str) -> str:
    sentences = {"text": TEXT, "target": TEXT, "corrupted": OTHER}
    return f"{small_url}/why?{urlencode({'model': 'small-why', **sentences})}"


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_what_is_drawn_is_computed_and_what_is_chosen_is_in_the_address(
    page: Page, model: Translator, why_url: str
) -> None:
    page.goto(f"{why_url}&step=2")
    expect(page.get_by_role("heading", name="If the decoder read an earlier layer")).to_be_visible()
    wait_until_idle(page)

    source, target = model.encode(TEXT), model.encode_target(TEXT)
    shares = why.contributions(model.model, source, target).source.sum(-1)
    assert page.locator(".scrubber .percent").all_inner_texts() == [str(round(100 * share)) for share in shares]

    # The arrow keys step where nothing in particular has the focus; each step is in the address, and Back returns.
    page.keyboard.press("ArrowRight")
    expect(page.locator(".scrubber [aria-checked=true]")).to_have_attribute(
        "aria-label", _starts(model, target, 2)
    )
    page.wait_for_url("**step=3**")
    wait_until_idle(page)
    instead = _rival(model, source, target, 2)
    expected = by_kind(
        why.patching(model.model, why.Corruption(source, model.encode(OTHER), target, 2, instead)).restored
    )
    for kind, values in expected.items():
        drawn = page.locator(f'.st-key-why-patched [data-pick^="{kind} "] text').all_text_contents()
        assert drawn == [f"{round(100 * value):d}".replace("-", "−") for value in values.ravel()]

    # A head of the map is chosen by the keyboard too; other pages open on it.
    cell = page.locator('.st-key-why-heads [data-pick="self 1 1"]')
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**head=2**")
    assert (query(page)["kind"], query(page)["layer"]) == (["decoder"], ["2"])
    assert "instead" not in query(page)  # nobody chose another token
    expect(page.get_by_text("Decoder self-attention, layer 2, head 2:")).to_be_visible()
    page.go_back()
    page.wait_for_url(lambda url: "head=" not in url)
    page.go_back()
    page.wait_for_url("**step=2**")
    wait_until_idle(page)

    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON, every number").click()
    content = json.loads(download.value.path().read_text("utf-8"))
    parts = next(rows for title, rows in content.items() if " rather than " in title)
    assert sum(row["Logits"] for row in parts[:-1]) == pytest.approx(parts[-1]["Logits"], abs=1e-4)


def test_nothing_is_cut_off_where_it_is_narrow(page: Page, why_url: str) -> None:
    page.set_viewport_size({"width": 853, "height": 800})
    page.goto(f"{why_url}&step=2")
    expect(page.get_by_role("heading", name="If the decoder read an earlier layer")).to_be_visible()
    wait_until_idle(page)
    is_whole(page)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.stApp').clientWidth === 390")
    wait_until_idle(page)
    is_whole(page)


def is_whole(page: Page) -> None:
    main = page.get_by_test_id("stMain")
    assert main.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.locator(".scrubber .step").evaluate_all(
        "els => els.every(el => el.getBoundingClientRect().right <= innerWidth)"
    )
    # Letters keep their size: the drawing for narrow places is shown.
    for key in ("why-shares", "why-waterfall", "why-heads", "why-patched"):
        scale = page.locator(f".st-key-{key} svg").evaluate(
            "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
        )
        assert scale > 0.85, key


def _starts(translator: Translator, target: list[int], step: int) -> re.Pattern[str]:
    label = translator.checkpoint.target_tokenizer.labels([target[step + 1]])[0]
    return re.compile(f"^{re.escape(label)}:")


def _rival(translator: Translator, source: list[int], target: list[int], step: int) -> int:
    log_probs = translator.log_probs([source], [target[:-1]])[0, step].clone()
    config, labels = translator.model.config, translator.checkpoint.target_tokenizer.labels
    never = {config.pad_id, config.sos_id} - {config.eos_id}  # which are never written
    written = labels([target[step + 1]])
    log_probs[[id for id in range(len(log_probs)) if id in never or labels([id]) == written]] = -1e9
    return int(log_probs.argmax())
