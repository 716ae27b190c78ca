"""Heads, kinds, cells and sentences are chosen, and the address carries what is chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, WebSocketRoute, expect

from headlight.checkpoints import load_translator
from headlight.importers.examples import examples
from tests.browser.attention.looking import HEAD, agree, drawn, go, kind, over, thumb, type_sentence
from transformer import Trace, Translator

ROOT = Path(__file__).parents[3]


def test_the_app_opens_with_a_picture_and_draws_the_sentence_that_is_typed(page: Page, app_url: str) -> None:
    """The first page shows a trained model, its translation and its attention weights."""
    shipped = load_translator(ROOT / "checkpoints" / "en-fr")
    go(page, app_url)
    first = shipped.trace(examples(shipped.card)[0].text)
    expect(page.locator(".translation")).to_contain_text(first.writes.labels[1])
    type_sentence(page, "Two dogs are running in the snow.")
    trace = shipped.trace("Two dogs are running in the snow.")
    expect(page.locator(".translation")).to_contain_text(trace.writes.labels[1])
    thumb(page, 2, 4).click()
    agree(page, trace.cross[1, 3])


def test_heads_and_kinds_are_chosen_and_the_weight_is_shown_on_hover(
    page: Page, odd_url: str, odd_trace: Trace
) -> None:
    """The stacks of the model have unequal depths."""
    go(page, odd_url)
    thumb(page, 1, 2).click()
    agree(page, odd_trace.cross[0, 1])
    page.keyboard.press("ArrowDown")
    agree(page, odd_trace.cross[1, 1])
    page.keyboard.press("ArrowLeft")
    agree(page, odd_trace.cross[1, 0])
    expect(page).to_have_url(re.compile(r"layer=2&head=1"))
    page.go_back()
    agree(page, odd_trace.cross[1, 1])
    expect(page).to_have_url(re.compile("layer=2&head=2"))
    for name, count in (("Encoder", 8), ("Decoder", 6), ("Cross", 6)):
        kind(page, name)
        expect(page.locator(".thumb")).to_have_count(count)
        agree(page, odd_trace.pattern(name.lower())[1, 1])
    weights = odd_trace.cross[1, 1]
    q, k = 1, 3
    over(page, q, k)
    expect(page.locator(".map .tip")).to_contain_text(f"{weights[q, k]:.3f}")
    expect(page.locator(".map .tip")).to_contain_text("looks at")


def test_a_choice_is_drawn_before_the_app_answers(fresh_page: Page, odd_url: str, odd_trace: Trace) -> None:
    """The thumbnails' 256 shades, without numbers on hover; the weights themselves follow with the answer."""
    page = fresh_page
    held: list[str | bytes] = []
    silent = False

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        server.on_message(lambda message: held.append(message) if silent else socket.send(message))

    page.route_web_socket("**/_stcore/stream", connect)
    go(page, odd_url)
    silent = True
    thumb(page, 3, 1).click()
    agree(page, odd_trace.cross[2, 0], 0.51 / 255)
    assert not np.allclose(np.nan_to_num(drawn(page)), odd_trace.cross[2, 0], atol=1e-6)
    expect(page.locator(".head-title")).to_contain_text("Layer 3, head 1")
    over(page, 1, 3)
    expect(page.locator(".side.left .token.chosen")).to_have_count(1)
    expect(page.locator(".map .tip")).to_be_hidden()
    kind(page, "Encoder")
    expect(page.locator(".thumb")).to_have_count(2 * 4)
    silent = False
    page.reload()  # the held messages are lost, but nothing that was chosen is
    page.locator(".thumb").first.wait_for()
    kind(page, "Cross")
    thumb(page, 3, 1).click()
    agree(page, odd_trace.cross[2, 0])
    over(page, 1, 3)
    expect(page.locator(".map .tip")).to_be_visible()


def test_what_is_clicked_is_held_until_escape_and_a_link_carries_it(page: Page, odd_url: str, odd_trace: Trace) -> None:
    go(page, f"{odd_url}/?layer=3&head=1")
    rows, columns = (page.locator(f".side.{side} .token") for side in ("left", "right"))
    sheet = "canvas => canvas.toDataURL()"
    before = page.locator("canvas.sheet").evaluate(sheet)
    rows.nth(2).click()
    page.mouse.move(5, 5)
    expect(page.locator(".side.left .token.chosen")).to_have_text(rows.nth(2).inner_text())
    assert page.locator("canvas.sheet").evaluate(sheet) != before  # every thumbnail marks it
    assert page.locator(HEAD).evaluate("root => root.view.held") == {"row": 2, "column": None}  # the map follows
    expect(page).to_have_url(re.compile("row=3"))
    page.keyboard.press("Escape")
    expect(page.locator(".token.chosen")).to_have_count(0)
    assert page.locator("canvas.sheet").evaluate(sheet) == before
    expect(page).not_to_have_url(re.compile("row="))
    over(page, 1, 3)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(5, 5)
    expect(page.locator(".map .tip")).to_contain_text(f"{odd_trace.cross[2, 0, 1, 3]:.3f}")
    expect(page.locator(".side.right .token.chosen")).to_have_text(columns.nth(3).inner_text())
    expect(page).to_have_url(re.compile("row=2&column=4"))
    go(page, page.url)
    expect(page.locator(".map .tip")).to_contain_text(f"{odd_trace.cross[2, 0, 1, 3]:.3f}")
    assert page.locator("canvas.sheet").evaluate(sheet) != before
    thumb(page, 2, 1).click()  # it stays with another head, but not with another sentence
    expect(page).to_have_url(re.compile("layer=2.*row=2&column=4"))
    type_sentence(page, "three four")
    expect(page).not_to_have_url(re.compile("row="))
    expect(page.locator(".token.chosen")).to_have_count(0)


def test_a_link_opens_the_same_view(
    page: Page, new_page: Callable[..., Page], odd_url: str, odd: Translator
) -> None:
    expected = odd.trace("three four").encoder[1, 2]
    go(page, odd_url)
    type_sentence(page, "three four")
    kind(page, "Encoder")
    thumb(page, 2, 3).click()
    page.get_by_text("Whole words").click()
    expect(page).to_have_url(re.compile("words=1"))
    page.get_by_role("button", name="Copy link to this view").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    assert all(part in link for part in ("text=three", "kind=encoder", "layer=2", "head=3", "words=1"))
    agree(page, expected)
    other = go(new_page(), link)
    agree(other, expected)
    assert other.url == link
