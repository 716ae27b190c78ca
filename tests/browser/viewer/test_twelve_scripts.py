"""The views with a sentence in each of twelve scripts, from arrays: no model, no server, and no font is asked of the
machine. A letter that it cannot draw is a box, which is in its place all the same."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from headlight.graphemes import graphemes, right_to_left, runs_left
from headlight.viewer.packing import EveryHead, head_payload, lines_payload, overview_parts, pack
from headlight.viewer.scripts import style, viewer_script
from tests.twelve_scripts import LEFTWARDS, TOKENS

SCRIPTS = ("shared", "icons", "overview", "map_box", "map_axes", "head", "lines", "scrubber", "drawing", "chips")
OTHERS = ("training", "film", "tree")
QUESTION = ("prose", "question_head", "question_row", "question_order", "question")
# What is written on canvases: the text, its place and its direction.
WATCH = """
const written = [];
const fill = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const { e, f, a, b } = this.getTransform().translate(x, y);
  written.push({ text: String(text), x: e, y: f, slanted: b !== 0, direction: this.direction, on: this.canvas });
  return fill.call(this, text, x, y);
};
const given = {};
function mount(name, make, bytes, width) {
  const root = given[name] ?? document.querySelector("main").appendChild(el("div", { class: "hl" }));
  given[name] = root;
  root.style.width = `${width}px`;
  make(root, unpack(Uint8Array.from(atob(bytes), c => c.charCodeAt(0))), () => {});
}
const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
"""
ROOM = 460
Call = Callable[..., Any]


def letters(text: str) -> list[str]:
    return list(graphemes(text))


def pattern(tokens: list[str]) -> np.ndarray:
    """[1, N, N] in which each query looks at the key after it, and the last at the first."""
    return np.eye(len(tokens), k=1, dtype=np.float32)[None] + np.eye(len(tokens), k=1 - len(tokens), dtype=np.float32)


def captions() -> list[list[list[str]]]:
    return [[["looks on"]]]


def payloads(tokens: list[str]) -> dict[str, bytes]:
    weights = pattern(tokens)
    header, arrays = overview_parts(EveryHead(weights[None], captions(), columns=tokens))
    header |= {"selected": [0, 0], "profile": None}
    shares = [(place + 1) / len(tokens) for place in range(len(tokens))]
    names = ["from the source", "from what was written"]
    return {
        "Overview": pack(header, arrays),
        "Head": head_payload(weights[0], tokens, tokens, masked=None, rows_read=tokens),
        "Lines": lines_payload(weights, tokens, tokens, [0], 0.9),
        "Scrubber": pack({"labels": tokens, "shares": shares, "selected": 1, "names": names}, {}),
    }


def show(page: Page, tokens: list[str], width: int = ROOM) -> None:
    page.evaluate("written.length = 0")
    for name, message in payloads(tokens).items():
        given = [name, base64.b64encode(message).decode("ascii"), width]
        page.evaluate(f"([name, bytes, width]) => mount(name, mount{name}, bytes, width)", given)
    words = "([labels]) => { const row = new WordRow(new Tooltip(document.querySelector('main'))); "
    words += "row.update({ labels, weights: labels.map((_, k) => k / labels.length), theme: themeOf(given.Head), "
    words += "text: 'Words' }); row.node.style.width = '460px'; given.Lines.querySelector('.words')?.remove(); "
    words += "given.Lines.append(row.node); }"
    page.evaluate(words, [tokens])
    page.evaluate("drawn()")


@pytest.fixture(scope="module")
def views(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    sheets = style("page") + style("viewer") + style("why") + style("decoding") + style("question")
    page.set_content(f"<style>{sheets}</style><main style='display:block'></main>")
    page.add_script_tag(content=viewer_script(*SCRIPTS, *OTHERS, *QUESTION) + WATCH)
    yield page
    page.close()


def on_the_map(page: Page) -> list[dict[str, Any]]:
    return page.evaluate("written.filter(({ on }) => on === given.Head.querySelector('canvas'))")


def beginning_of(short: str, tokens: list[str]) -> bool:
    """Whether it is one of these tokens, or begins as one and is cut between two of its graphemes."""
    kept = letters(short.removesuffix("…"))
    return any(short == token or (short.endswith("…") and letters(token)[: len(kept)] == kept) for token in tokens)


@pytest.mark.parametrize("script", TOKENS)
def test_the_map_is_written_in_the_order_of_the_sentence(views: Page, script: str) -> None:
    tokens = TOKENS[script]
    show(views, tokens)
    labels = on_the_map(views)
    columns = [text for text in labels if text["slanted"] and beginning_of(text["text"], tokens)]
    places = [text["x"] for text in columns]
    assert len(columns) == len(tokens)
    assert places == sorted(places, reverse=script in LEFTWARDS)
    assert all(beginning_of(text["text"], [token]) for text, token in zip(columns, tokens, strict=True))
    for text, token in zip(columns, tokens, strict=True):
        assert (text["direction"] == "rtl") == runs_left(token, script in LEFTWARDS), token
    rows = [text for text in labels if not text["slanted"] and beginning_of(text["text"], tokens)]
    assert [text["y"] for text in rows] == sorted(text["y"] for text in rows)


@pytest.mark.parametrize("script", ["Arabic", "Hebrew", "Korean"])
def test_a_cell_keeps_its_token_by_pointer_and_by_keyboard(views: Page, script: str) -> None:
    tokens = TOKENS[script]
    show(views, tokens)
    canvas = views.locator(".map canvas")
    x, y, across, down = (float(part) for part in str(canvas.get_attribute("data-cells")).split())
    last = len(tokens) - 1
    for row, column in ((0, 1), (1, 2), (last, 0)):  # where all of the row's weight is
        seat = last - column if script in LEFTWARDS else column
        canvas.hover(position={"x": x + (seat + 0.5) * across, "y": y + (row + 0.5) * down})
        assert views.locator(".map .tip b").all_inner_texts() == [tokens[row], tokens[column], "1.000"]
        pixel = views.evaluate(
            """([x, y]) => { const canvas = given.Head.querySelector("canvas");
            return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3); }""",
            [x + (seat + 0.2) * across, y + (row + 0.2) * down],
        )
        assert sum(pixel) < 250  # the darkest of the colours
    views.mouse.move(0, 0)
    canvas.focus()
    on, back = ("ArrowLeft", "ArrowRight") if script in LEFTWARDS else ("ArrowRight", "ArrowLeft")
    for key, column in ((on, 0), (on, 1), (on, 2), (back, 1)):  # the first begins at the first cell
        canvas.press(key)
        assert views.locator(".map .tip b").nth(1).inner_text() == tokens[column]
    canvas.press("Escape")


def test_other_words_under_a_pointer_that_rests_are_told(views: Page) -> None:
    show(views, TOKENS["Greek"])
    x, y, across, down = map(float, str(views.locator(".map canvas").get_attribute("data-cells")).split())
    views.locator(".map canvas").hover(position={"x": x + 1.5 * across, "y": y + 0.5 * down})
    show(views, [*reversed(TOKENS["Greek"])])
    assert views.locator(".map .tip b").all_inner_texts() == [".", "▁βιβλίο", "1.000"]


@pytest.mark.parametrize("script", TOKENS)
def test_words_stand_in_the_order_of_the_sentence(views: Page, script: str) -> None:
    """In the scrubber and among the words of a step; in the line view, which is a list, each runs its own way."""
    tokens = TOKENS[script]
    show(views, tokens, width=1200)
    leftwards = script in LEFTWARDS
    look = "all => all.map(one => [one.innerText, one.dir, one.getBoundingClientRect().x])"
    for words in (".scrubber .step .word", ".words .word", ".side.left .token", ".side.right .token"):
        texts, ways, places = zip(*views.locator(words).evaluate_all(look), strict=True)
        assert list(texts) == tokens
        assert [way == "rtl" for way in ways] == [runs_left(token, leftwards) for token in tokens]
        assert ".side" in words or (places[0] > places[1]) == leftwards


@pytest.mark.parametrize("script", ["Arabic", "Greek"])
def test_an_arrow_goes_where_it_points_and_a_remote_control_goes_on(views: Page, script: str) -> None:
    show(views, TOKENS[script], width=1200)
    now = views.locator(".scrubber .step[aria-checked=true]")
    before = views.evaluate("() => given.Scrubber.querySelector('.now .word').getBoundingClientRect().x")
    now.focus()
    views.keyboard.press("ArrowLeft")
    after = views.evaluate("() => given.Scrubber.querySelector('.now .word').getBoundingClientRect().x")
    assert after < before
    steps = "([key, rtl]) => stepOf({ key }, rtl)"
    assert [views.evaluate(steps, ["ArrowLeft", rtl]) for rtl in (False, True)] == [-1, 1]
    assert [views.evaluate(steps, ["PageDown", rtl]) for rtl in (False, True)] == [1, 1]
    assert views.evaluate(steps, ["h", True]) == 0


@pytest.mark.parametrize("script", TOKENS)
def test_both_languages_cut_and_direct_alike(views: Page, script: str) -> None:
    """Python for what is exported, JavaScript for what is on the screen."""
    tokens = TOKENS[script]
    text = "".join(tokens)
    assert views.evaluate("graphemes", text) == letters(text)
    assert views.evaluate("rightToLeft", ["[SOS]", *tokens, "</s>"]) == right_to_left(tokens)
    cut = "([text, rooms]) => { pixel.font = '14px sans-serif'; return rooms.map(room => cutTo(pixel, text, room)); }"
    shortened = views.evaluate(cut, [text, list(range(10, 200, 15))])
    assert all(beginning_of(short, [text]) for short in shortened)
    assert len(set(shortened)) > 3


@pytest.mark.parametrize("script", ["Arabic", "Chinese"])
def test_a_thumbnail_is_the_map_in_small(views: Page, script: str) -> None:
    tokens = TOKENS[script]
    show(views, tokens)
    darkest = """([rows, columns]) => {
      const [node, sheet] = [".thumb", ".sheet"].map(name => given.Overview.querySelector(name));
      const pen = sheet.getContext("2d"), ratio = pen.getTransform().a;
      const wide = node.offsetWidth / columns, y = node.offsetTop + node.offsetHeight / rows / 2;
      const at = j => pen.getImageData((node.offsetLeft + (j + 0.5) * wide) * ratio, y * ratio, 1, 1).data;
      const sums = Array.from({ length: columns }, (_, j) => at(j)[0] + at(j)[1] + at(j)[2]);
      return sums.indexOf(Math.min(...sums));
    }"""
    seat = views.evaluate(darkest, [len(tokens), len(tokens)])
    assert seat == (len(tokens) - 2 if script in LEFTWARDS else 1)


@pytest.mark.parametrize("script", ["Hebrew", "Thai"])
def test_a_question_and_its_answer_run_as_their_sentence(views: Page, script: str) -> None:
    """Words, bars, and a choice of tokens: where each stands, and that a bar stands over its own column."""
    tokens = TOKENS[script]
    count = len(tokens)
    posed = {"ask": "row", "labels": tokens, "query": tokens[0]}
    picture = {"kind": "encoder", "layer": 1, "head": 1, "rows": tokens, "columns": tokens, "asked": 0}
    picture |= {"weights": np.eye(count).tolist(), "masked": np.zeros((count, count), bool).tolist()}
    views.evaluate(
        """([posed, truth]) => {
          const root = document.querySelector("main").appendChild(el("div", { class: "hl asked" }));
          root.style.width = "700px";
          drawTruth(root.appendChild(el("div")), posed, truth, null);
          drawTruth(root.appendChild(el("div")), { ...posed, ask: "word" }, { answer: 0, row: truth.answer }, 1);
          const chips = new Chips("Tokens", () => {});
          root.append(chips.node);
          chips.show(posed.labels, 0);
          return drawn();
        }""",
        [{**posed, "picture": picture}, {"answer": [100.0, *[0.0] * (count - 1)]}],
    )
    leftwards = script in LEFTWARDS
    for each in (".bar-of", ".words [role=listitem]", ".choices button"):
        places = [box["x"] for one in views.locator(f".asked {each}").all() if (box := one.bounding_box())]
        rows = [box["y"] for one in views.locator(f".asked {each}").all() if (box := one.bounding_box())]
        first_row = [x for x, y in zip(places, rows, strict=True) if y == rows[0]]
        assert len(places) == count and len(first_row) > 2
        assert first_row == sorted(first_row, reverse=leftwards)
    sheet, bar = views.locator(".asked .sheet-of canvas").first, views.locator(".asked .bar-of").first.bounding_box()
    darkest = sheet.evaluate(
        """canvas => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, 1);
          const red = Array.from({ length: canvas.width }, (_, i) => data[4 * i]);
          return red.indexOf(Math.min(...red));
        }"""
    )
    box = sheet.bounding_box()
    assert darkest == (count - 1 if leftwards else 0)
    assert bar is not None and box is not None
    middle = box["x"] + (darkest + 0.5) * box["width"] / count
    assert abs(bar["x"] + bar["width"] / 2 - middle) < 4
    views.evaluate("document.querySelector('.asked').remove()")


@pytest.mark.parametrize("script", ["Arabic", "Bengali"])
def test_a_film_tells_the_tokens_under_the_pointer(views: Page, script: str) -> None:
    tokens = TOKENS[script]
    count = len(tokens)
    header = {"of": script, "steps": [0, 10], "step": None, "rows": tokens, "columns": tokens, "note": ""}
    header |= {"sure": [0.5, 1.0], "settled": [1, count]}
    weights = np.stack([pattern(tokens)[0]] * 2)
    message = pack(header, {"weights": weights, "masked": np.zeros((count, count), np.uint8)})
    given = ["Film", base64.b64encode(message).decode("ascii"), ROOM]
    views.evaluate("([name, bytes, width]) => mount(name, mountFilm, bytes, width)", given)
    picture = views.locator(".film .picture").last
    box = picture.bounding_box()
    assert box is not None
    seat = count - 2 if script in LEFTWARDS else 1  # of the second token, at which the first looks
    picture.hover(position={"x": (seat + 0.5) * box["width"] / count, "y": 0.5 * box["height"] / count})
    told = views.locator(".hl:has(.film) .tip")
    assert told.locator("b").all_inner_texts() == [tokens[0], tokens[1]] and "1.000" in told.inner_text()
    views.evaluate("given.Film.remove(), delete given.Film")


@pytest.mark.parametrize("script", TOKENS)
def test_a_word_of_the_tree_is_cut_between_letters_and_runs_its_own_way(views: Page, script: str) -> None:
    long = "".join(TOKENS[script]) * 3
    shown = views.evaluate(
        """long => {
          const tree = { label: ["[SOS]", long], parent: [-1, 0], step: [0, 1], outcome: [0, 0], lane: [0, 0] };
          const numbers = { total: [0, -1], log_prob: [0, -1], score: [0, -1] };
          const root = document.querySelector("main").appendChild(el("div", { class: "hl" }));
          const view = new TreeView(root, () => {});
          root.append(view.node);
          view.update({ ...tree, ...numbers, lane_unpruned: [0, 0] }, { pruned: true, under: "total" });
          const word = root.querySelectorAll(".word")[1], found = [word.textContent, word.getAttribute("direction")];
          root.remove();
          return found;
        }""",
        long,
    )
    assert shown[0].endswith("…") and beginning_of(shown[0], [long])
    assert (shown[1] == "rtl") == (script in LEFTWARDS)
