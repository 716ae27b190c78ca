"""The Attention page as a person uses it, in a real Chromium.

Most tests run on a small untrained checkpoint with two encoder layers of 4 heads and three decoder layers of 2,
whose tokens are hostile; the first ones on the app as it ships.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pypdf
import pytest
import tokenizers
from PIL import Image
from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from tokenizers import models, pre_tokenizers

from tests.forked import serve_forked
from tests.small import small_checkpoint
from tools.serving import wait_until_idle
from transformer import Trace, Translator, checkpoints
from transformer.checkpoints import Checkpoint
from transformer.checkpoints.examples import examples
from transformer.data.tokenizers import SPECIALS, Tokenizer
from ui.widgets.text import signed

ROOT = Path(__file__).parents[2]
HOSTILE = ["<img/src=x/onerror=alert(1)>", "</script><script>alert(1)</script>", "<b>bold</b>", "$x$", "**a**"]
WORDS = ["one", "two", "three", "four", "five"]
SENTENCE = " ".join([*HOSTILE, *WORDS])
HEAD = ".st-key-head .hl"

LABELS = {
    "PNG": "PNG, for slides",
    "PDF": "PDF, for a paper",
    "SVG": "SVG, for print",
    "CSV": "CSV, the exact weights",
    "NPZ": "NPZ, all attention weights",
    "HTML": "HTML, this view offline",
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Translator]:
    """A folder of checkpoints with one model whose depths differ and whose words are hostile."""
    inner = tokenizers.Tokenizer(models.WordLevel({t: i for i, t in enumerate([*SPECIALS, *HOSTILE, *WORDS])}, "[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = Tokenizer(inner)
    # This seed's untrained weights happen to write a dozen tokens before they end.
    model = small_checkpoint(seed=33, max_length=600, source_vocab_size=14, target_vocab_size=14).model
    folder = tmp_path_factory.mktemp("checkpoints")
    card = {"title": "Odd <b>words</b>", "source": "Odd", "target": "Even", "examples": [SENTENCE, "one two"]}
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, card), folder / "odd")
    return folder, Translator.load(folder / "odd")


@pytest.fixture(scope="module")
def odd_url(odd: tuple[Path, Translator], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(odd[0]))
        with serve_forked(ROOT / "app.py", tmp_path_factory.mktemp("odd") / "log.txt") as address:
            yield address


@pytest.fixture
def odd_trace(odd: tuple[Path, Translator]) -> Trace:
    return odd[1].trace(SENTENCE)


def go(page: Page, url: str) -> Page:
    page.goto(url)
    page.locator(".thumb").first.wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


def drawn(page: Page) -> np.ndarray:
    """The values that the large map draws, as the browser has them: [Q, K], masked cells NaN."""
    return np.array(
        page.locator(HEAD).evaluate(
            """root => {
              const { header, weights, masked } = root.view, K = header.columns.length;
              const cell = at => (masked[at] ? null : weights[at]);
              return header.rows.map((_, q) => header.columns.map((_, k) => cell(q * K + k)));
            }"""
        ),
        dtype=np.float64,
    )


def over(page: Page, q: int, k: int) -> None:
    """Moves the pointer over a cell of the large map."""
    canvas = page.locator(".map canvas")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    canvas.hover(position={"x": x + (k + 0.5) * across, "y": y + (q + 0.5) * down})


def agree(page: Page, expected: np.ndarray, apart: float = 1e-6) -> None:
    """The picture shows these weights, after at most a few seconds of drawing."""
    for _ in range(100):
        cells = drawn(page)
        if cells.shape == expected.shape and np.allclose(np.nan_to_num(cells), expected, atol=apart):
            return
        page.wait_for_timeout(100)
    assert cells.shape == expected.shape
    assert np.allclose(np.nan_to_num(cells), expected, atol=apart)


def thumb(page: Page, layer: int, head: int) -> Locator:
    return page.locator(f'.thumb[aria-label^="Layer {layer}, head {head},"]')


def kind(page: Page, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("radio", name=name).or_(
        page.get_by_test_id("stMain").get_by_role("button", name=name, exact=True)
    ).first.click()
    wait_until_idle(page)


def type_sentence(page: Page, text: str) -> None:
    box = page.get_by_role("textbox").first
    box.fill(text)
    box.press("Enter")
    page.wait_for_timeout(300)
    wait_until_idle(page)


def test_the_app_opens_with_a_picture_and_draws_the_sentence_that_is_typed(page: Page, app_url: str) -> None:
    """What `make run` promises: a trained model, its translation, and the weights that it computed."""
    shipped = Translator.load(ROOT / "checkpoints" / "en-fr")
    go(page, app_url)
    first = shipped.trace(examples(shipped.card)[0].text)
    expect(page.locator(".translation")).to_contain_text(first.writes.labels[1])
    type_sentence(page, "Two dogs are running in the snow.")
    trace = shipped.trace("Two dogs are running in the snow.")
    expect(page.locator(".translation")).to_contain_text(trace.writes.labels[1])
    thumb(page, 2, 4).click()
    agree(page, trace.cross[1, 3])


def test_heads_are_chosen_by_mouse_and_keyboard(page: Page, odd_url: str, odd_trace: Trace) -> None:
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


def test_three_kinds_of_a_model_with_unequal_depths_and_the_weight_on_hover(
    page: Page, odd_url: str, odd_trace: Trace
) -> None:
    go(page, f"{odd_url}/?layer=2&head=2")
    for name, count in (("Encoder", 8), ("Decoder", 6), ("Cross", 6)):
        kind(page, name)
        expect(page.locator(".thumb")).to_have_count(count)
        agree(page, odd_trace.pattern(name.lower())[1, 1])
    weights = odd_trace.cross[1, 1]
    q, k = 1, 3
    over(page, q, k)
    expect(page.locator(".map .tip")).to_contain_text(f"{weights[q, k]:.3f}")
    expect(page.locator(".map .tip")).to_contain_text("looks at")


def test_what_is_clicked_is_held_until_escape_and_a_link_carries_it(
    page: Page, new_page: Callable[..., Page], odd_url: str, odd_trace: Trace
) -> None:
    go(page, f"{odd_url}/?layer=3&head=1")
    rows, columns = (page.locator(f".side.{side} .token") for side in ("left", "right"))
    rows.nth(2).click()
    page.mouse.move(5, 5)
    expect(page.locator(".side.left .token.chosen")).to_have_text(rows.nth(2).inner_text())
    assert page.locator(HEAD).evaluate("root => root.view.held") == {"row": 2, "column": None}  # the map follows
    expect(page).to_have_url(re.compile("row=3"))
    over(page, 1, 3)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(5, 5)
    expect(page.locator(".map .tip")).to_contain_text(f"{odd_trace.cross[2, 0, 1, 3]:.3f}")
    expect(page.locator(".side.right .token.chosen")).to_have_text(columns.nth(3).inner_text())
    expect(page).to_have_url(re.compile("row=2&column=4"))
    other = go(new_page(), page.url)
    expect(other.locator(".map .tip")).to_contain_text(f"{odd_trace.cross[2, 0, 1, 3]:.3f}")
    other.keyboard.press("Escape")
    expect(other.locator(".token.chosen")).to_have_count(0)
    expect(other).not_to_have_url(re.compile("row="))
    thumb(page, 2, 1).click()  # it stays with another head, but not with another sentence
    expect(page).to_have_url(re.compile("layer=2.*row=2&column=4"))
    type_sentence(page, "three four")
    expect(page).not_to_have_url(re.compile("row="))
    expect(page.locator(".token.chosen")).to_have_count(0)


def test_switching_a_head_off_changes_everything_that_depends_on_it(
    page: Page, odd_url: str, odd: tuple[Path, Translator], odd_trace: Trace
) -> None:
    go(page, f"{odd_url}/?kind=cross&layer=3&head=2")
    page.get_by_role("button", name="1", exact=True).first.click()  # layer 1, head 1
    page.get_by_text("Log-probability of the original").wait_for(timeout=30_000)
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"changes=cross\.1\.1"))
    from ui.attention.view import Change

    tap = Change("cross", 1, 1).tap()
    changed = odd[1].trace(SENTENCE, interventions=[tap])
    forced = odd[1].trace_ids(odd_trace.source.ids, odd_trace.target.ids, [tap])
    agree(page, changed.cross[2, 1])
    expect(page.get_by_test_id("stMetricValue").last).to_have_text(
        f"{signed(forced.log_prob - odd_trace.log_prob, plus=True)} nats"
    )
    page.get_by_role("button", name="Show the difference in every cell").click()
    wait_until_idle(page)
    agree(page, forced.cross[2, 1] - odd_trace.cross[2, 1])
    page.get_by_role("button", name="Switch it on again").click()
    wait_until_idle(page)
    agree(page, odd_trace.cross[2, 1])


def test_a_translation_that_cannot_be_read_can_be_changed(page: Page, odd_url: str) -> None:
    page.goto(f"{odd_url}/?target=")
    page.get_by_text("Type one, or let the model write its own").wait_for()
    page.get_by_text("Type your own").click()
    wait_until_idle(page)
    expect(page.locator(".thumb")).not_to_have_count(0)
    expect(page).not_to_have_url(re.compile("target"))


def test_changing_a_head_of_another_kind_keeps_the_picture_and_the_tab(page: Page, odd_url: str) -> None:
    go(page, f"{odd_url}/?kind=cross&layer=3&head=2")
    chart = page.locator(HEAD).element_handle()
    page.get_by_role("tab", name="Encoder").click()
    wait_until_idle(page)
    page.get_by_role("button", name="2", exact=True).first.click()
    page.get_by_text("Changed: 1 encoder.").wait_for()
    wait_until_idle(page)
    expect(page).to_have_url(re.compile(r"changes=encoder\.1\.2"))
    expect(page.get_by_role("tab", name="Encoder")).to_have_attribute("aria-selected", "true")
    assert chart.evaluate("chart => chart.isConnected")


def test_every_head_is_ranked_by_its_cost(
    page: Page, odd_url: str, odd: tuple[Path, Translator], odd_trace: Trace
) -> None:
    go(page, odd_url)
    page.get_by_role("button", name="How important is each head?").click()
    page.locator(".ranking").wait_for(timeout=30_000)
    from transformer.analysis import head_importance
    from ui.attention.ranking import name

    worst = head_importance(odd[1].model, odd_trace.source.ids, odd_trace.target.ids)[0]
    expect(page.locator(".ranking")).to_contain_text(name(worst))
    expect(page.locator(".ranking")).to_contain_text(f"{signed(worst.delta, plus=True)} nats")


def test_a_link_opens_the_same_view(
    page: Page, new_page: Callable[..., Page], odd_url: str, odd: tuple[Path, Translator]
) -> None:
    expected = odd[1].trace("three four").encoder[1, 2]
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
    other.reload()
    other.locator(".thumb").first.wait_for()
    wait_until_idle(other)
    agree(other, expected)
    assert other.url == link


def test_a_typed_translation_is_read_along_and_its_checks_can_be_read(
    page: Page, odd_url: str, odd: tuple[Path, Translator]
) -> None:
    go(page, f"{odd_url}/?text=one%20two&target=five%20four%20three&layer=2&head=2")
    trace = odd[1].trace("one two", target="five four three")
    agree(page, trace.cross[1, 1])
    expect(page.locator(".translation")).to_contain_text(f"{signed(trace.log_prob)} nats")
    page.get_by_role("button", name="Checks: 5 of 5 hold").click()
    expect(page.get_by_text("Every row sums to 1.")).to_be_visible()
    expect(page.get_by_text("No look-ahead.")).to_be_visible()


def download(page: Page, label: str, tmp_path: Path) -> Path:
    with page.expect_download(timeout=30_000) as waiting:
        page.get_by_role("button", name=LABELS[label], exact=True).click()
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_each_download_holds_what_is_shown(
    page: Page, new_page: Callable[..., Page], odd_url: str, odd_trace: Trace, tmp_path: Path
) -> None:
    go(page, f"{odd_url}/?kind=decoder&layer=2&head=1")
    page.get_by_role("button", name="Export").click()
    weights = odd_trace.decoder[1, 0]

    saved = Trace.load(download(page, "NPZ", tmp_path))
    assert all(np.array_equal(saved.pattern(k), odd_trace.pattern(k)) for k in ("encoder", "decoder", "cross"))
    assert saved.source.labels == odd_trace.source.labels

    rows = list(csv.reader(io.StringIO(download(page, "CSV", tmp_path).read_text())))
    rows = rows[rows.index([]) + 1 :]
    cells = [[float(cell) if cell else 0.0 for cell in row[1:]] for row in rows[1:]]
    assert np.array_equal(np.array(cells, dtype=np.float32), weights)

    root = ElementTree.parse(download(page, "SVG", tmp_path)).getroot()
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(token in texts for token in odd_trace.reads.labels)

    image = np.asarray(Image.open(download(page, "PNG", tmp_path)).convert("RGB"))
    width, height = (round(2 * float(root.get(side, "0"))) for side in ("width", "height"))
    assert image.shape[:2] == (height, width)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 10

    page.get_by_text("Every head of decoder self-attention").click()
    page.get_by_text("The numbers of the chosen head").wait_for()
    path = download(page, "PDF", tmp_path)
    assert path.name.startswith("odd-decoder-every-head-img-src-x")
    assert "decoder self-attention, every head" in pypdf.PdfReader(path).pages[0].extract_text().lower()

    path = download(page, "HTML", tmp_path)
    requests: list[str] = []
    offline = new_page(fresh=True)
    offline.context.set_offline(True)
    offline.on("request", lambda request: requests.append(request.url))
    offline.goto(path.as_uri())
    offline.locator(".thumb").first.wait_for()
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    expect(offline.get_by_text(HOSTILE[0]).first).to_be_visible()


def test_hostile_tokens_are_text(page: Page, odd_url: str) -> None:
    go(page, odd_url)
    assert page.locator("img[src='x']").count() == 0
    expect(page.locator(".side.right .token").nth(0)).to_have_text(HOSTILE[0])
    assert "<b>bold</b>" in page.locator(HEAD).evaluate("root => root.view.header.columns")
    type_sentence(page, "<script>alert(1)</script> <img src=x onerror=alert(1)> $x$ **bold** :red[no]")
    assert page.locator("img[src='x']").count() == 0


def test_bad_input_is_answered_in_plain_words(page: Page, odd_url: str) -> None:
    go(page, odd_url)
    for text, message in (
        ("", "empty"),
        ("   ", "empty"),
        ("one " * 2_500, "at most 600"),
        ("😀 日本語 שלום", "not in the model's vocabulary"),
    ):
        type_sentence(page, text)
        expect(page.get_by_text(message).first).to_be_visible()
        type_sentence(page, "one two")
        expect(page.get_by_text(message)).to_have_count(0)
        expect(page.locator(".thumb")).to_have_count(6)


def test_512_tokens_are_a_canvas(page: Page, odd_url: str, odd: tuple[Path, Translator]) -> None:
    text = " ".join(WORDS[i % 5] for i in range(511))
    go(page, f"{odd_url}/?kind=encoder&text={quote(text)}&target=one&layer=1&head=1")
    expect(page.locator(".where")).to_contain_text("512 × 512 tokens")
    expect(page.locator(".caption")).to_contain_text("512")
    canvas = page.locator(".map canvas[data-cells]")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    canvas.hover(position={"x": x + 100.5 * across, "y": y + 200.5 * down})
    expect(page.locator(".map .tip .value")).to_be_visible()
    assert odd[1].encode(text)[-1] == 3


def draws_zero_as_the_page(page: Page, ground: str, zero: str) -> None:
    assert page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor") == ground
    assert page.locator(HEAD).evaluate("root => root.view.colours[0]") == zero


def test_the_dark_theme_draws_zero_as_the_page(dark_page: Page, odd_url: str) -> None:
    go(dark_page, odd_url)
    draws_zero_as_the_page(dark_page, "rgb(14, 17, 23)", "#0e1117")


def test_the_pictures_keep_a_size_that_can_be_read(new_page: Callable[..., Page], odd_url: str) -> None:
    """853 pixels are a screen of 1280 at 150 %. Every label is drawn, and nothing is wider than the page."""
    page = go(new_page(viewport={"width": 1920, "height": 768}), odd_url)
    draws_zero_as_the_page(page, "rgb(255, 255, 255)", "#ffffff")
    can_be_read(page, 1920)
    for width in (1280, 1024, 853, 390):
        page.set_viewport_size({"width": width, "height": 768})
        page.wait_for_function("width => document.querySelector('.stApp').clientWidth === width", arg=width)
        wait_until_idle(page)
        can_be_read(page, width)


def can_be_read(page: Page, width: int) -> None:
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), f"wider than {width} pixels"
    sizes = page.locator(HEAD).evaluate("root => [root.clientWidth, root.view.box.w, root.view.view]")
    assert min(sizes[2]["across"], sizes[2]["down"]) >= 12 and sizes[1] >= 120, (width, sizes)
    thumbs = page.locator(".thumb").first.bounding_box()
    assert thumbs is not None and thumbs["width"] >= 32, width
    assert page.locator(".side").evaluate_all("sides => sides.every(side => side.clientWidth >= 40)"), width
    box = page.get_by_role("textbox").first
    whole = "e => e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth"
    assert box.evaluate(whole), f"the sentence is not seen whole at {width} pixels"
    wide = page.locator(HEAD).evaluate("root => root.clientWidth")
    assert wide >= (600 if width == 1920 else 300), width


def test_a_phone_shows_everything_below_each_other(new_page: Callable[..., Page], odd_url: str) -> None:
    phone = go(new_page(viewport={"width": 390, "height": 844}), odd_url)
    can_be_read(phone, 390)
    boxes = [phone.locator(place).first.bounding_box() for place in (".thumb", HEAD, ".side.left")]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 3 and tops == sorted(tops)


def test_an_unknown_model_or_head_in_a_link_is_no_error(page: Page, odd_url: str) -> None:
    go(page, f"{odd_url}/?model=**none**&layer=99&head=77&kind=x&changes=cross.9.9&show=difference&mass=3")
    expect(page.get_by_text("There is no model “**none**” here")).to_be_visible()
    expect(page.locator(".thumb")).to_have_count(6)
