"""The Decoding page as a person uses it, in a real Chromium.

Two small untrained checkpoints have hostile tokens: "odd-beam" ends its sentences, "odd-endless" never does.
test_connections.py and test_firefox.py open the page as it ships.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from headlight.checkpoints import load_translator
from headlight.formatting import signed
from tests.browser.odd import HOSTILE, WORDS, save_odd
from tools.serving import wait_until_idle
from transformer import Translator
from transformer.decoding import Decoding
from ui.decoding.search import Search, searched
from ui.decoding.view import DecodingView

SENTENCE = " ".join([*HOSTILE[:4], *WORDS])
BEAM = Decoding.of("beam", size=3, length_penalty=1.0)


@pytest.fixture(scope="module")
def odd(small_models: Path) -> Iterator[Translator]:
    names = "odd-beam", "odd-endless"
    for name, ends in zip(names, (0.0, -1e4), strict=True):
        save_odd(small_models / name, SENTENCE, ends, max_length=64)
    yield load_translator(small_models / names[0])
    for name in names:
        shutil.rmtree(small_models / name)


@pytest.fixture
def odd_url(odd: Translator, small_url: str) -> str:
    """The address of the page on the first of these models, which more may follow."""
    return f"{small_url}/decoding?model=odd-beam"


def go(page: Page, address: str, query: str = "") -> Page:
    page.goto(address + query)
    page.locator(".player[data-step]").wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


def decoded(model: Translator, decoding: Decoding = BEAM, text: str = SENTENCE) -> Search:
    ids = model.encode(text)
    return searched(model, ids, decoding, decoding.steps(model.model, model.source_batch([ids]), record=True))


def names(model: Translator, ids: list[int]) -> list[str]:
    return [model.checkpoint.target_tokenizer.piece(i) for i in ids]


def step(page: Page, number: int) -> None:
    expect(page.locator(".player")).to_have_attribute("data-step", str(number))


def score_text(value: float) -> str:
    return signed(value)


def candidate(page: Page, token: int) -> Locator:
    return page.locator(f'.candidate[data-id="{token}"]')


def test_steps_by_mouse_and_keyboard_show_what_the_model_computed(page: Page, odd_url: str, odd: Translator) -> None:
    search = decoded(odd)
    own = search.best
    last = len(own.ids)
    go(page, odd_url, "&layer=3&head=2")
    step(page, 1)
    page.get_by_role("button", name="Step forward (right arrow)").click()
    step(page, 2)
    page.keyboard.press("ArrowRight")
    step(page, 3)
    row = own.cross[2, 1, 2]
    shown = page.locator('.attention[data-kind="cross"] .words').get_attribute("aria-label") or ""
    assert [float(number) for number in re.findall(r" (\d\.\d{3})(?:,|$)", shown)] == pytest.approx(row, abs=6e-4)
    decoder = page.locator('.attention[data-kind="decoder"]')
    expect(decoder.locator(".word:not(.later)")).to_have_count(3)
    expect(decoder.locator(".later")).to_have_count(last - 3)
    best = int(row.argmax())
    expect(page.locator('.attention[data-kind="encoder"] .over')).to_contain_text(search.source.labels[best])
    page.keyboard.press("End")
    step(page, last)
    page.keyboard.press("Home")
    step(page, 1)
    page.get_by_test_id("stMain").focus()  # as a click on nothing does
    page.keyboard.press("PageDown")  # as presenters' remote controls send
    step(page, 2)
    # No step needs the server.
    page.context.set_offline(True)
    page.locator(".track").focus()
    page.keyboard.press("ArrowRight")
    step(page, 3)
    page.locator("select[aria-label='Head']").select_option("0")
    label = page.locator('.attention[data-kind="cross"] .words')
    expect(label).to_have_attribute("aria-label", re.compile("head 1"))
    page.context.set_offline(False)
    page.locator('.stop[data-step="3"]').click()
    step(page, 3)
    page.locator(".track").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    step(page, last - 1)
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    step(page, last)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page).to_have_url(re.compile(f"step={last}"))


def test_the_future_can_be_hidden_until_it_is_reached(page: Page, odd_url: str, odd: Translator) -> None:
    """By key and by box, carried by the link, in the scrubber, the masked tokens, the tree and what stands below."""
    search = decoded(odd)
    own = search.best
    last, words = len(own.ids), ["[SOS]", *names(odd, own.ids)]
    go(page, odd_url, f"&step=2&branches={own.ids[0]}.5&reference=five")
    page.locator(".card").first.wait_for()
    page.locator(".reference").wait_for()
    page.keyboard.press("h")
    stops, drawn = page.locator(".stop:not(.ahead)"), page.locator(".treebox [role=treeitem]")

    def seen(at: int) -> None:
        expect(stops).to_have_text(words[: at + 1])
        expect(page.locator(".ahead")).to_have_count(1)
        expect(page.locator("h2").first).to_have_text(re.compile(f"^Step {at}: "))
        reads = page.locator('.attention[data-kind="decoder"] .word')
        expect(reads).to_have_text([*words[:at], *(["…"] if at < last else [])])
        levels = drawn.evaluate_all("items => items.map(item => +item.ariaLevel)")
        assert len(levels) == sum(0 < node.step <= at for node in search.tree.nodes)
        assert not [text for text in drawn.evaluate_all("items => items.map(e => e.ariaLabel)") if "best" in text]
        expect(page.locator("table.hypotheses")).to_be_hidden()

    seen(2)
    expect(page).to_have_url(re.compile("future=0"))
    expect(page.locator(".card")).to_have_count(0)
    expect(page.get_by_text("1 branch hidden")).to_be_visible()
    expect(page.locator(".reference")).to_have_count(0)  # its scores are of the whole output
    page.locator(".ahead").click()
    seen(3)
    expect(page).to_have_url(re.compile("step=3"))
    page.reload()
    page.locator(".player[data-step='3']").wait_for(timeout=60_000)
    seen(3)
    page.locator(".track").focus()
    page.keyboard.press("End")  # the winner is whole: nothing is left to hide
    expect(stops).to_have_text(words)
    expect(page.locator("table.hypotheses")).to_be_visible()
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator(".reference")).to_be_visible()
    page.keyboard.press("Home")
    seen(1)
    page.get_by_label("Hide what comes later").uncheck()
    expect(stops).to_have_text(words)
    expect(page).not_to_have_url(re.compile("future=0"))


def test_a_node_opens_its_candidates_and_its_attention(page: Page, odd_url: str, odd: Translator) -> None:
    search = decoded(odd)
    other = next(i for i in search.tree.hypotheses[1:] if search.tree.nodes[i].step > 3)
    node = next(i for i in search.tree.path(other)[1:] if search.tree.nodes[i].outcome != "winner")
    go(page, odd_url, f"&layer=1&head=1&step={search.tree.nodes[node].step}")
    page.locator(f'.node[data-node="{node}"]').click()
    step(page, search.tree.nodes[node].step)
    expect(candidate(page, search.tree.nodes[node].token)).to_have_class(re.compile("chosen"))
    expect(page.locator(".facts")).to_contain_text(score_text(search.tree.nodes[node].total))
    expect(page.locator(".fate")).to_contain_text("This is another finished hypothesis")
    row = np.asarray(search.cross)[search.answers[search.tree.nodes[node].parent or 0], 0, 0]
    shown = page.locator('.attention[data-kind="cross"] .words').get_attribute("aria-label") or ""
    assert [float(number) for number in re.findall(r" (\d\.\d{3})(?:,|$)", shown)] == pytest.approx(row, abs=6e-4)
    expect(page).to_have_url(re.compile("path="))
    go(page, page.url)
    expect(page.locator(f'.node[data-node="{node}"]')).to_have_class(re.compile("selected"))
    page.get_by_role("button", name="Back to the winner").click()
    expect(page.locator(".fate")).to_be_hidden()


def test_the_tree_and_the_table_have_every_score(page: Page, odd_url: str, odd: Translator) -> None:
    search = decoded(odd)
    go(page, odd_url)
    seen: set[int] = set()
    for left in range(0, 6_000, 400):  # what is far from the visible part is not drawn
        page.locator(".treebox").evaluate("(e, left) => { e.scrollLeft = left; }", left)
        page.wait_for_timeout(50)
        drawn = page.locator(".treebox .node:not([data-node='0'])").evaluate_all(
            "nodes => nodes.map(e => [+e.dataset.node, e.querySelector('.sum').textContent])"
        )
        assert drawn == [[i, score_text(search.tree.nodes[i].total)] for i, _ in drawn]
        seen |= {i for i, _ in drawn}
    assert seen == set(range(1, len(search.tree.nodes)))
    page.locator(".track").focus()
    page.keyboard.press("End")
    page.locator("select[aria-label='Under each token']").select_option("score")
    expect(page.locator(f'.node[data-node="{search.tree.winner}"] .sum')).to_have_text(
        score_text(search.tree.nodes[search.tree.winner].score)
    )
    page.get_by_label("Show pruned hypotheses").click()
    expect(page.locator(".treebox .node.pruned")).to_have_count(0)
    expect(page).to_have_url(re.compile("pruned=0"))
    for place, end in enumerate(search.tree.hypotheses[:3]):
        node = search.tree.nodes[end]
        row = page.locator("table.hypotheses tbody tr").nth(place)
        expect(row).to_contain_text(score_text(node.total))
        expect(row.locator("td").nth(3)).to_have_text(str(node.step))


def test_a_fork_and_a_pointed_step_stand_beside_what_was(page: Page, odd_url: str, odd: Translator) -> None:
    search = decoded(odd)
    own = search.best
    answer = search.answers[search.tree.path(search.tree.winner)[1]]
    token = next(c.id for c in search.candidates[answer] if c.id not in (0, 2, 3, own.ids[1]))
    go(page, odd_url, "&step=2")
    candidate(page, token).click()
    cards = page.locator(".card")
    expect(cards).to_have_count(2, timeout=30_000)
    prefix = [own.ids[0], token]
    expected = odd.n_best(SENTENCE, 3, 1.0, prefix=prefix)[0]
    expect(cards.nth(1).locator(".token-choice")).to_have_text(names(odd, expected.ids))
    expect(cards.nth(1).locator(".forced")).to_have_text(names(odd, [token]))
    expect(cards.nth(1)).to_contain_text(score_text(expected.score))
    change = expected.score - own.score
    expect(cards.nth(1)).to_contain_text(("+" if change > 0 else "") + score_text(change))
    expect(page).to_have_url(re.compile(f"branches={prefix[0]}.{prefix[1]}"))

    page.get_by_role("button", name="Point it at another word").click()
    page.get_by_role("radio", name="all layers").click()
    page.locator(".words.pickable .word").nth(6).click()
    expect(cards).to_have_count(3, timeout=30_000)
    expect(cards.nth(2)).to_contain_text("Looking at “three”")
    expect(cards.nth(2).locator(".words").first).to_have_attribute("aria-label", re.compile("three 1.000"))
    cards.nth(1).get_by_role("button", name="Close").click()
    expect(cards).to_have_count(2)
    page.reload()
    expect(cards).to_have_count(2, timeout=30_000)
    expect(cards.nth(1)).to_contain_text("Looking at “three”")


def test_strategies_are_chosen_live(page: Page, odd_url: str, odd: Translator) -> None:
    go(page, odd_url)
    page.get_by_test_id("stMain").get_by_text("Greedy", exact=True).click()
    greedy = decoded(odd, Decoding.of("greedy"))
    ids = greedy.tree.ids(greedy.tree.winner)
    expect(page.locator(".stop")).to_have_text(["[SOS]", *names(odd, ids)], timeout=30_000)
    expect(page.locator(".treebox")).to_be_hidden()
    wait_until_idle(page)
    page.get_by_test_id("stMain").get_by_text("Sampling", exact=True).click()
    seed = page.get_by_role("spinbutton", name="Seed")
    seed.fill("4")
    seed.press("Enter")
    expect(page).to_have_url(re.compile("seed=4"))
    sampled = decoded(odd, DecodingView(strategy="sampling", seed=4).decoding)
    ids = sampled.tree.ids(sampled.tree.winner)
    expect(page.locator(".stop")).to_have_text(["[SOS]", *names(odd, ids)], timeout=30_000)
    go(page, odd_url, "&strategy=sampling&temperature=0.5&top_k=2&seed=4")
    cut = decoded(odd, Decoding.of("sampling", temperature=0.5, top_k=2, top_p=0.9, seed=4))
    expect(page.locator(".candidate .p").get_by_text("cut")).to_have_count(
        sum(c.filtered_log_prob == -torch.inf for c in cut.candidates[0][:6])
    )


def test_a_reference_is_read_token_by_token_and_the_downloads_hold_what_is_shown(
    page: Page, odd_url: str, odd: Translator, tmp_path: Path
) -> None:
    go(page, odd_url)
    box = page.get_by_placeholder("Type a translation and press Enter")
    box.fill("five four three")
    box.press("Enter")
    page.locator(".reference").wait_for(timeout=30_000)
    trace = odd.trace(SENTENCE, target="five four three")
    expect(page.locator(".reference > span")).to_have_count(4)
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(f"{score_text(trace.log_prob)} nats")
    expect(page.get_by_text("Sentence BLEU")).to_be_visible()
    expect(page).to_have_url(re.compile("reference=five"))
    wait_until_idle(page)
    # And the downloads hold what is shown.
    search = decoded(odd)
    page.get_by_role("button", name="Export").click()
    saved = []
    for label in ("JSON, every step", "SVG, for print"):
        with page.expect_download(timeout=30_000) as waiting:
            page.get_by_role("button", name=label).click()
        saved.append(tmp_path / waiting.value.suggested_filename)
        waiting.value.save_as(saved[-1])
    content = json.loads(saved[0].read_text())
    assert content["hypotheses"][0]["ids"] == search.tree.ids(search.tree.winner)
    assert len(content["nodes"]) == len(search.tree.nodes)
    assert saved[1].read_text().startswith("<svg")
    assert [path.name.split("-img-")[0] for path in saved] == ["odd-beam-decoding", "odd-beam-tree"]


def test_a_phone_shows_everything_below_each_other(new_page: Callable[..., Page], odd_url: str) -> None:
    phone = go(new_page(viewport={"width": 390, "height": 844}), odd_url, "&branches=4.5~1")
    phone.locator(".card").nth(1).wait_for(timeout=30_000)
    assert phone.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    boxes = [
        phone.locator(place).first.bounding_box() for place in (".track", ".candidate", ".looks", ".treebox", ".card")
    ]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 5 and tops == sorted(tops)


def test_hostile_tokens_are_text_and_the_dark_page_takes_its_own_colours(dark_page: Page, odd_url: str) -> None:
    page = go(dark_page, odd_url, f"&reference={quote(HOSTILE[0])}&branches=4.5~1&layer=1&head=1")
    page.locator(".card").nth(1).wait_for(timeout=30_000)
    page.get_by_text("This step and every hypothesis as tables").click()
    wait_until_idle(page)
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator('.attention[data-kind="cross"] .word').first).to_have_text(HOSTILE[0])
    expect(page.locator(".card h3").nth(1)).to_contain_text(HOSTILE[0])
    expect(page.locator(".reference > span").first).to_contain_text(HOSTILE[0])
    ground = page.locator(".word:not(.later)").first.evaluate("e => getComputedStyle(e).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", ground)[:3])
    assert red + green + blue < 600  # an untrained head is spread out: dark on dark, not ink on paper
    assert page.locator(".hl").first.get_attribute("data-theme") == "dark"


def test_the_longest_sentence_of_a_model_that_never_ends(page: Page, odd_url: str) -> None:
    text = " ".join(WORDS[i % 5] for i in range(63))
    go(page, odd_url.replace("odd-beam", "odd-endless"), f"&size=10&step=60&text={quote(text)}")
    step(page, 60)
    expect(page.locator(".stop")).to_have_count(65)
    expect(page.locator("tr.winner")).to_contain_text("cut at the length limit")
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    expect(page.locator(".node.selected")).to_be_visible()
    page.locator(".treebox").focus()
    page.keyboard.press("ArrowLeft")
    step(page, 59)
    page.keyboard.press("ArrowDown")
    step(page, 59)
    expect(page.locator(".fate")).to_be_visible()
