"""Timing of the app and of offline files in a real Chromium; every time is taken inside the page, in milliseconds."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, Route, sync_playwright
from playwright.sync_api import Error as Broken

from benchmarks.measure import ROOT
from headlight.analysis.layout import descriptions, lay_out, measures
from tools.serving import VIEWPORT, launch, serve, skip_tour, wait_until_idle
from transformer import Trace, Translator
from transformer.trace import KINDS

WARM_UPS = 3
SCRIPT = Path(__file__).with_name("painted.js")
_TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => {}))"


@contextmanager
def app(log: Path, checkpoints: Path | None = None) -> Iterator[tuple[Browser, str]]:
    """Serve the app, by default with the shipped checkpoints; yield a Chromium and the app's address."""
    environment = {"HEADLIGHT_CHECKPOINTS": str(checkpoints)} if checkpoints else {}
    with sync_playwright() as playwright, patch.dict(os.environ, environment), serve(ROOT / "app.py", log) as url:
        yield launch(playwright), url


def open_app(browser: Browser, url: str, sign: str = ".thumb") -> Page:
    """Open the app at an address, and wait until `sign` is there and nothing is left to draw."""
    context = browser.new_context(viewport=VIEWPORT, color_scheme="light", reduced_motion="reduce")
    page = skip_tour(context).new_page()
    page.add_init_script(path=SCRIPT)
    page.goto(url)
    page.locator(sign).first.wait_for(timeout=60_000)
    wait_until_idle(page)
    return page


def time_event(page: Page, event: str, event_name: str, expected: object, act: Callable[[], None]) -> float:
    """Time from the event that `act` causes until the page shows `expected`, plus two frames."""
    page.evaluate("given => painted.after(...given)", [event, event_name, expected])
    act()
    milliseconds = float(page.evaluate("painted.took"))
    wait_until_idle(page)
    return milliseconds


def choosing(browser: Browser, url: str, trace: Trace, count: int, until: str) -> list[float]:
    """Time from pressing another head's thumbnail to its heatmap ("head"), or to its weights on hover too ("exact")."""
    page = open_app(browser, f"{url}/?{urlencode({**_query(trace), 'layer': 1, 'head': 1})}")
    n_layers, n_heads = trace.cross.shape[:2]
    heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)][1:]
    random.Random(0).shuffle(heads)
    return [choose(page, trace, *head, until) for head in islice(cycle(heads), WARM_UPS + count)][WARM_UPS:]


def choose(page: Page, trace: Trace, layer: int, head: int, until: str = "head") -> float:
    """Choose one cross-attention head; layers and heads count from 0."""
    thumb = page.locator(f'.thumb[aria-label^="Layer {layer + 1}, head {head + 1},"]')
    return time_event(page, "pointerdown", until, trace.cross[layer, head].tolist(), thumb.click)


def switching(browser: Browser, url: str, trace: Trace, count: int) -> list[float]:
    """Time from pressing encoder, decoder or cross to the overview of that kind."""
    page = open_app(browser, f"{url}/?{urlencode(_query(trace))}")
    times = []
    for kind in islice(cycle(KINDS), WARM_UPS + count):
        button = page.get_by_test_id("stMain").get_by_role("radio", name=kind.capitalize())
        times.append(time_event(page, "pointerdown", "overview", named_heads(trace, kind), button.click))
    return times[WARM_UPS:]


def hovering(browser: Browser, url: str, trace: Trace, rounds: int) -> list[float]:
    """Time from moving the pointer to another token of the line view, with all heads of a layer, to the frame's end."""
    heads = ",".join(str(head + 1) for head in range(trace.cross.shape[1]))
    page = open_app(browser, f"{url}/?{urlencode({**_query(trace), 'layer': 1, 'head': 1, 'lines': heads})}")
    page.locator(".side.left").scroll_into_view_if_needed()
    middles = "all => all.map(e => e.getBoundingClientRect()).map(b => [b.x + b.width / 2, b.y + b.height / 2])"
    tokens = page.locator(".side.left .token").evaluate_all(middles)
    tokens = [(x, y) for x, y in tokens if 0 < y < VIEWPORT["height"]]
    times = []
    for x, y in tokens * (rounds + 1):
        page.evaluate("painted.hovered()")
        page.mouse.move(x, y)
        times.append(float(page.evaluate("painted.took")))
    return times[len(tokens) :]


def typing(
    browser: Browser, url: str, model: Translator, count: int, texts: Iterable[str] | None = None
) -> list[float]:
    """Time from Enter on a new sentence to its overview: by default sentences of twenty tokens."""
    page = open_app(browser, url)
    times = []
    for text in islice(texts or sentences(model, 20), WARM_UPS + count):
        expected = named_heads(model.trace(text), "cross")
        box = page.get_by_role("textbox").first
        box.fill(text)
        times.append(time_event(page, "keydown", "overview", expected, lambda box=box: box.press("Enter")))  # type: ignore[misc]
    return times[WARM_UPS:]


def opening(browser: Browser, file: Path, selector: str, scripts: Path | None, limit: float) -> float | None:
    """Time from opening a file until `selector` is there and painted; None where that takes more than `limit` seconds.

    None too where the page breaks down.
    """
    # Our file allows no script but its own, and so not the clock either.
    page = browser.new_context(viewport=VIEWPORT, bypass_csp=True).new_page()
    if scripts is not None:
        serve_scripts(page, scripts)
    page.add_init_script(path=SCRIPT)
    page.add_init_script(f"painted.opened({selector!r})")
    try:
        page.goto(file.as_uri(), wait_until="commit", timeout=1000 * limit)
        page.wait_for_function("() => painted.took", timeout=1000 * limit)
        return float(page.evaluate("painted.took"))
    except Broken:
        return None
    finally:
        page.context.close()


def opening_app(browser: Browser, url: str, trace: Trace) -> tuple[float, int]:
    """Time from opening the Attention page of a sentence to its overview and the chosen head; and what was sent.

    Milliseconds, and the bytes over its socket; the scripts are Streamlit's, Plotly's and ours, whatever is shown.
    """
    page = browser.new_context(viewport=VIEWPORT, color_scheme="light", reduced_motion="reduce").new_page()
    frame_sizes: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frame_sizes.append(len(frame))))
    page.add_init_script(path=SCRIPT)
    try:
        page.goto(f"{url}/?{urlencode({**_query(trace), 'layer': 1, 'head': 1})}", wait_until="commit")
        page.wait_for_function("() => painted.overview() && painted.head()", polling="raf", timeout=180_000)
        milliseconds = page.evaluate(f"new Promise(done => {_TWO_FRAMES.format('done(performance.now())')})")
        wait_until_idle(page)
        return float(milliseconds), sum(frame_sizes)
    finally:
        page.context.close()


def named_heads(trace: Trace, kind: str) -> list[str]:
    """Return the beginning of each thumbnail's accessible name."""
    layout = lay_out(trace, kind, words=False, hide=False)
    texts = descriptions(trace, layout, measures(trace, layout))
    return [
        f"Layer {layer + 1}, head {head + 1}, {''.join(text)}"
        for layer, heads in enumerate(texts)
        for head, text in enumerate(heads)
    ]


def sentences(model: Translator, tokens: int) -> Iterator[str]:
    """Return distinct English captions of exactly this many tokens, [EOS] not counted."""
    parts = [
        ["A man", "A young woman", "An old man", "A little girl", "The boy", "A player", "Two children"],
        ["in a red shirt", "in a blue jacket", "with a black hat", "in yellow", "with long hair", "in green and white"],
        ["sits on a bench", "walks through the park", "plays with a ball", "stands in the street", "jumps over a log"],
        ["near a large tree", "beside the water", "in front of a house", "behind a white car", "next to a brown horse"],
        ["while people watch", "on a sunny day", "while a dog runs by", "and looks at the camera", "during a game"],
    ]
    draw, texts = random.Random(0), set[str]()
    while True:
        text = " ".join(draw.choice(choices) for choices in parts) + "."
        if text not in texts and len(model.encode(text)) == tokens + 1:
            yield text
        texts.add(text)


def _query(trace: Trace) -> dict[str, str]:
    return {"model": "large", "text": trace.text, "target": trace.translation}


def serve_scripts(page: Page, scripts: Path) -> None:
    """Serve from a folder the scripts that BertViz's page loads from the internet."""

    def serve_script(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[-1]
        route.fulfill(path=scripts / ("require.js" if name == "require.min.js" else name))  # npm has it unminified

    page.route("**/*.min.js", serve_script)
