"""The Anatomy page as a person uses it, in a real Chromium.

Two untrained checkpoints have hostile words: "odd", with the norm before, and one of twelve layers with the norm after
and learned positions. The last tests open the page as it ships, as do test_connections.py and test_firefox.py.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from headlight.analysis.anatomy import Walk, walk
from headlight.analysis.network import network
from headlight.analysis.stream import lens, stream
from headlight.checkpoints import load_tokenizer, load_translator
from headlight.corpora.cutting import Merges
from headlight.formatting import probability_text
from tests.browser.odd import HOSTILE, SENTENCE, WORDS, save_odd
from tests.browser.served import open_page
from tools.serving import wait_until_idle
from transformer import StackConfig, Trace, Translator
from transformer.taps import Site

WRITTEN = "three <b>bold</b> one $x$ two"
TYPED = f"text={quote(SENTENCE)}&target={quote(WRITTEN)}"


@pytest.fixture(scope="module")
def deep(small_models: Path) -> Iterator[Translator]:
    stack, folder = StackConfig(12, 2, 16), small_models / "odd-deep"
    save_odd(folder, norm="post", final_norm=False, positions="learned", tied="output", encoder=stack, decoder=stack)
    yield load_translator(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def url(small_url: str) -> str:
    return small_url


@pytest.fixture(scope="module")
def small(small_models: Path) -> Translator:
    return load_translator(small_models / "odd")


@pytest.fixture(scope="module")
def trace(small: Translator) -> Trace:
    return small.trace(SENTENCE, target=WRITTEN)


def go(page: Page, address: str, query: str = "") -> Page:
    return open_page(page, f"{address}/anatomy?{query}", "What would it predict if it stopped here?")


def numbers(model: Translator, trace: Trace, site: Site, head: int, query: int) -> Walk:
    return walk(stream(model.model, trace.source.ids, trace.target.ids), site, head, query)


def written(number: float) -> str:
    """A weight as the page writes it."""
    if number == 0 or number >= 0.0005:
        return f"{number:.3f}"
    return "under 0.000001" if number < 1e-6 else f"{number:.{1 - math.floor(math.log10(number))}f}"


def weights(page: Page) -> list[str]:
    """The numbers of the open softmax."""
    return page.locator(".inner .number:not(.cell):not(.done):not(.todo)").all_inner_texts()


def agree(page: Page, row: np.ndarray, visible: np.ndarray) -> None:
    expected = [written(weight) if seen else "masked" for weight, seen in zip(row.tolist(), visible, strict=True)]
    for _ in range(100):
        if weights(page) == expected:
            return
        page.wait_for_timeout(50)
    assert weights(page) == expected


def part(page: Page, title: str) -> Locator:
    return page.locator(f'.part[aria-label^="{title}."]')


def stage(page: Page, number: int) -> Locator:
    return page.locator(".stage-head").nth(number - 1)


def test_the_stages_are_stepped_through_and_played_to_the_end(
    page: Page, url: str, small: Translator, trace: Trace
) -> None:
    """Keys, buttons and headers change the stage; the address and the followed row change with it."""
    go(page, url, f"{TYPED}&head=2&query=4")
    walk = numbers(small, trace, Site("decoder", 0, "self"), 1, 3)
    expect(stage(page, 1)).to_have_attribute("aria-current", "step")
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Next stage").click()
    expect(stage(page, 3)).to_have_attribute("aria-current", "step")
    page.get_by_test_id("stMain").focus()  # as a click on nothing does
    page.keyboard.press("PageDown")  # as presenters' remote controls send
    expect(stage(page, 4)).to_have_attribute("aria-current", "step")
    page.locator(".board").focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(stage(page, 9)).to_have_attribute("aria-current", "step")
    expect(page.locator(".words")).to_contain_text(f"{np.linalg.norm(walk.own.total):.2f}")
    stage(page, 6).click()
    agree(page, walk.own.weights, walk.visible)
    expect(page.locator(".check").first).to_contain_text(
        re.compile(r"Equal to the model's own: weights within \d\.\de−\d")
    )
    page.locator(".aside.key").nth(2).click()
    expect(page.locator(".worked")).to_contain_text(written(walk.own.weights[2]))
    expect(page).to_have_url(re.compile("key=3&stage=6"))
    page.locator(".board").focus()
    page.keyboard.press("ArrowUp")
    expect(page.locator(".worked")).to_contain_text(written(walk.own.weights[1]))
    stage(page, 8).click()
    expect(stage(page, 8)).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(stage(page, 9)).to_have_attribute("aria-current", "step")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_heads_and_tokens_are_chosen_and_a_number_is_shown_under_the_pointer(
    page: Page, url: str, small: Translator, trace: Trace
) -> None:
    go(page, url, f"{TYPED}&kind=cross&layer=2&stage=6&head=1&query=1")
    page.get_by_role("radiogroup", name="Head").get_by_role("radio", name="2").click()
    agree(page, trace.cross[1, 1, 0], np.ones(len(trace.source), dtype=bool))
    page.get_by_role("radiogroup", name="Query token").get_by_role("radio").nth(3).click()
    agree(page, trace.cross[1, 1, 3], np.ones(len(trace.source), dtype=bool))
    expect(page).to_have_url(re.compile(r"kind=cross&layer=2&head=2&query=4"))
    stage(page, 2).click()
    walk = numbers(small, trace, Site("decoder", 1, "cross"), 1, 3)
    strip = page.locator(".over canvas").nth(1)  # the first is the query's stream
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box is not None
    strip.hover(position={"x": (2 + 0.5) * box["width"] / len(walk.q), "y": 10})
    expect(page.locator(".tip:visible")).to_contain_text(f"number 3 of {len(walk.q)}")
    shown = page.locator(".tip:visible .value").inner_text().replace("−", "-")
    assert float(shown) == pytest.approx(walk.q[2], abs=1e-4, rel=1e-2)


def test_the_switches_change_what_comes_after_and_say_so(page: Page, url: str, small: Translator, trace: Trace) -> None:
    go(page, url, f"{TYPED}&head=1&query=2&stage=6")
    walk = numbers(small, trace, Site("decoder", 0, "self"), 0, 1)
    everything = np.ones_like(walk.visible)
    expect(page.locator(".note")).to_be_hidden()
    page.get_by_role("switch", name="Without the mask").click()
    agree(page, walk.variants[True, False].weights, everything)
    expect(page.locator(".note")).to_contain_text("The model did not compute it")
    expect(page.locator(".foot .check")).to_contain_text("Not what the model computed")
    page.get_by_role("switch", name="Without √d").click()
    agree(page, walk.variants[False, False].weights, everything)
    page.get_by_role("switch", name="Without the mask").click()
    agree(page, walk.variants[False, True].weights, walk.visible)
    expect(page).to_have_url(re.compile("unscaled=1"))
    part(page, "Decoder layer 1, cross-attention").click()
    expect(page.get_by_role("switch", name="Without the mask")).to_be_disabled()


def test_the_map_opens_every_part_and_a_head(page: Page, url: str, small: Translator, trace: Trace) -> None:
    go(page, url, TYPED)
    parts = network(small.model, len(trace.source), len(trace.reads))
    expect(page.locator(".part")).to_have_count(len(parts))
    for title in (
        "Encoder embedding", "Encoder layer 2, layer norm before self-attention",
        "Decoder layer 3, feed-forward network", "Decoder, final layer norm", "Output projection and softmax",
    ):  # fmt: skip
        part(page, title).click(force=True)
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
        expect(page.locator(".legend .check").first).to_contain_text("Equal to the model's own output within")
        expect(page.locator(".vector").first).to_be_visible()
        assert page.locator(".katex").count() >= 1
    page.locator(".part.chosen").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Decoder, final layer norm", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("part=norm"))
    part(page, "Encoder layer 1, self-attention").locator(".head").nth(3).click()
    expect(page.get_by_role("heading", name="Encoder layer 1, self-attention, head 4", exact=True)).to_be_visible()
    page.keyboard.press("f")
    expect(page.locator(".hl:fullscreen .part").last).to_be_in_viewport(ratio=0.9)  # no wider than its room


def test_a_link_back_and_another_page_keep_the_view(page: Page, url: str) -> None:
    go(page, url, f"{TYPED}&kind=encoder&layer=2&head=3&query=2")
    stage(page, 5).click()
    expect(page).to_have_url(re.compile("stage=5"))
    page.locator('.lens [data-row="1"][data-token="2"]').click()
    expect(page).to_have_url(re.compile("lens=1%2C2|lens=1,2"))
    wait_until_idle(page)
    go(page, url, page.url.split("?")[1])
    expect(stage(page, 5)).to_have_attribute("aria-current", "step")
    expect(page.locator(".pinned")).to_have_attribute("data-token", "2")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Attention").click()
    page.locator(".thumb").first.wait_for(timeout=30_000)
    wait_until_idle(page)
    entries = page.evaluate("history.length")
    page.get_by_test_id("stSidebarNavLink").filter(has_text="Anatomy").click()
    page.locator(".stage-head").first.wait_for(timeout=30_000)
    wait_until_idle(page)
    assert page.evaluate("history.length") == entries + 1  # so that the first Back leads back
    expect(stage(page, 5)).to_have_attribute("aria-current", "step")
    expect(page.get_by_role("heading", name="Encoder layer 2, self-attention, head 3", exact=True)).to_be_visible()
    stage(page, 7).click()
    expect(page).to_have_url(re.compile("stage=7"))
    page.go_back()
    expect(stage(page, 5)).to_have_attribute("aria-current", "step")


def test_the_lens_tells_the_likeliest_tokens(page: Page, url: str, small: Translator, trace: Trace) -> None:
    go(page, url, TYPED)
    predictions = lens(stream(small.model, trace.source.ids, trace.target.ids))
    page.locator('.lens [data-row="2"][data-token="1"]').hover()
    expect(page.locator(".most .number")).to_have_text([written(share) for share in predictions.probabilities[2, 1]])
    expect(page.locator(".lens .c")).to_have_count(predictions.ids.shape[0] * predictions.ids.shape[1])
    expect(page.locator('.lens [data-row="2"][data-token="1"] small')).to_have_text(
        probability_text(float(predictions.probabilities[2, 1, 0]))
    )
    same = (predictions.ids[:, :, 0] == predictions.ids[-1, :, 0]).sum()
    expect(page.locator(".lens .same")).to_have_count(int(same))
    page.get_by_text("The most probable tokens as a table").click()
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()


def test_twelve_layers_with_norms_behind(page: Page, url: str, deep: Translator) -> None:
    trace = deep.trace(SENTENCE, target=WRITTEN)
    go(page, url, f"model=odd-deep&{TYPED}&kind=cross&layer=12&head=2&query=2&stage=6")
    agree(page, trace.cross[11, 1, 1], np.ones(len(trace.source), dtype=bool))
    expect(part(page, "Decoder layer 12, cross-attention")).to_be_in_viewport()
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    walk = numbers(deep, trace, Site("decoder", 11, "cross"), 1, 1)
    stage(page, 9).click()
    expect(page.locator(".words")).to_contain_text(
        f"The layer norm then brings it back to length {np.linalg.norm(walk.own.after):.2f}"
    )
    expect(page.get_by_text("decoded with the output projection")).to_be_visible()


def test_the_longest_sentence_scrolls(page: Page, url: str, small: Translator) -> None:
    text, target = " ".join(WORDS[i % 5] for i in range(599)), "three one"
    trace = small.trace(text, target=target)
    assert len(trace.source) == 600
    go(page, url, f"text={quote(text)}&target={quote(target)}&kind=encoder&layer=1&head=1&query=600&stage=6&key=590")
    page.locator(".rows").scroll_into_view_if_needed()
    expect(page.locator(".aside.key.strong")).to_be_in_viewport()
    assert len(weights(page)) < 40  # what is seen, not six hundred rows
    expect(page.locator(".part-seen")).to_have_text(re.compile(r"Keys \d+ to \d+ of 600; .* over all 600\."))
    expect(page.locator(".words")).to_contain_text("gives")
    page.get_by_role("radiogroup", name="Query token").get_by_role("radio").nth(598).click()
    expect(page).to_have_url(re.compile("query=599"))
    row = written(trace.encoder[0, 0, 598, 589])
    expect(page.locator(".worked")).to_contain_text(row)


def test_hostile_tokens_are_text_and_the_dark_theme_glows(dark_page: Page, url: str) -> None:
    page = go(dark_page, url, f"{TYPED}&kind=cross&stage=7&query=3&key=1")
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator(".aside.key").first).to_have_text(HOSTILE[0])
    expect(page.locator(".choices").last).to_contain_text("<b>bold</b>")
    expect(page.locator(".lens")).to_contain_text("$x$")
    assert page.locator(".hl").first.get_attribute("data-theme") == "dark"


def test_a_phone_shows_one_stage_at_a_time_and_the_first_column_of_the_lens_covers_no_token(
    new_page: Callable[..., Page], url: str, trace: Trace
) -> None:
    phone = go(new_page(viewport={"width": 390, "height": 844}), url, f"{TYPED}&head=1&query=2&stage=6")
    assert phone.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    agree(phone, trace.decoder[0, 0, 1], ~trace.masked("decoder")[1])
    stage(phone, 9).click()
    expect(phone.locator(".stage-name")).to_contain_text("Residual")
    cells = phone.locator('.lens [data-row="1"]')
    cells.last.focus()
    assert phone.locator(".lens-frame").evaluate("frame => frame.scrollLeft") > 0  # or nothing could be covered
    beside = """cell => cell.getBoundingClientRect().left -
        cell.closest("tr").querySelector("th").getBoundingClientRect().right"""
    for token in reversed(range(cells.count() - 1)):
        phone.keyboard.press("ArrowLeft")
        expect(cells.nth(token)).to_be_focused()
        assert cells.nth(token).evaluate(beside) > -1, token


# ---- as it ships -----------------------------------------------------------------------------------------------------


def test_a_typed_word_is_cut_and_a_bpe_is_learned_from_a_typed_text(page: Page, app_url: str) -> None:
    """Merge by merge; the address keeps both."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app_url}/anatomy?model=en-fr&part=embedding&kind=encoder&query=3")
    box = page.get_by_label("Word to cut")
    box.wait_for(timeout=60_000)
    box.fill("unbelievable")
    box.press("Enter")
    merges = Merges(load_tokenizer(Path(__file__).parents[2] / "checkpoints" / "en-fr" / "tokenizer.json"))
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


def test_the_matrices_on_a_phone(new_page: Callable[..., Page], app_url: str) -> None:
    """By the keys, with the choice in the address; what is wider than the screen scrolls in its own place."""
    page = new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{app_url}/anatomy?look=matrices&kind=decoder&layer=1&head=1&query=3")
    weights = page.get_by_role("region", name="Weights")
    expect(weights.get_by_role("rowheader")).not_to_have_count(0)
    wait_until_idle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("radio", name="I LOVE PYTHON").press("Enter")
    expect(weights.get_by_role("rowheader")).to_have_text(["I", "LOVE", "PYTHON"])
    page.get_by_role("radiogroup", name="Mask").get_by_role("radio", name="None").press("Enter")
    row = weights.get_by_role("row").filter(has=page.get_by_role("rowheader", name="I", exact=True))
    expect(row.get_by_role("cell")).to_have_text(["0.3064", "0.3530", "0.3406"])
    expect(page).to_have_url(re.compile(r"matrices=tutorial.*mask=none"))
    weights.focus()
    expect(weights).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
