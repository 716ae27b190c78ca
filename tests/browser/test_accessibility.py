"""A page as axe-core sees it (WCAG 2.1 A and AA) and in large type, and every letter of the models that ship.

test_connections.py opens every page and looks for its faults.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect

from headlight.importers.examples import examples
from tools.serving import wait_until_idle

Theme = Literal["light", "dark"]
ROOT = Path(__file__).parents[2]
AXE = ROOT / "headlight/viewer/js/node_modules/axe-core/axe.min.js"
OPTIONS: dict[str, object] = {
    "resultTypes": ["violations"],  # of what is right, axe need not tell every node
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    # An experiment of axe's: a button's name need not repeat every letter that is drawn in it.
    "rules": {"label-content-name-mismatch": {"enabled": False}},
}
CONTRAST: dict[str, object] = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
FOUND = """options => axe.run(document, options).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(node => `${id}: ${node.html.slice(0, 150)} ${node.any[0]?.message ?? ""}`)))"""
# What is written in less than 18 of the window's pixels; indices of formulas, and what only a reader hears, may be.
SMALL = """() => {
  const found = [];
  const look = root => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot);
      const box = node.getBoundingClientRect(), style = getComputedStyle(node);
      if (![...node.childNodes].some(one => one.nodeType === 3 && one.textContent.trim())) continue;
      if (box.width < 3 || box.height < 3 || style.clipPath !== "none" || !node.checkVisibility()) continue;
      if (node.closest("style, script, math, .katex, sub, .annotation-text")) continue;
      const matrix = node.ownerSVGElement && node.getScreenCTM();
      const drawn = matrix ? Math.hypot(matrix.a, matrix.b) : node.currentCSSZoom;
      const size = parseFloat(style.fontSize) * drawn;
      if (size < 17.9) found.push([size, node.tagName, node.textContent].join(" "));
    }
  };
  look(document);
  return found;
}"""
# Whether each letter is drawn as something else than the box of a letter that no font has.
DRAWN = """async letters => {
    await document.fonts.load("20px 'Noto Sans Devanagari'", "हिन्दी");
    const canvas = new OffscreenCanvas(40, 40), pen = canvas.getContext("2d", { willReadFrequently: true });
    const family = getComputedStyle(document.querySelector(".stApp")).fontFamily;
    const picture = text => {
      pen.clearRect(0, 0, 40, 40);
      pen.font = `20px ${family}`;
      pen.fillText(text, 8, 28);
      return pen.getImageData(0, 0, 40, 40).data.join();
    };
    const box = picture("\\u0378");
    return letters.filter(letter => letter.trim() && picture(letter) === box);
}"""


DRAWN_SECONDS = 10  # in which a busy machine has drawn everything in another theme and size; a fault stays


def follow_browser(page: Page, theme: Theme) -> None:
    page.emulate_media(color_scheme=theme)


def violations(
    page: Page,
    widths: tuple[int, ...] = (),
    themes: tuple[Theme, ...] = (),
    set_theme: Callable[[Page, Theme], None] = follow_browser,
) -> list[str]:
    """Return what axe finds on the page as it is, or at each of these widths.

    In the themes after the first only the colours differ, so only contrast is looked at again. Afterwards the page has
    its size again, and the first of the themes.
    """
    load_axe(page)
    size, found = page.viewport_size, list[str]()
    for theme in themes[:1]:
        set_theme(page, theme)
    for width in widths or (None,):
        if width and size:
            page.set_viewport_size({"width": width, "height": size["height"]})
        found += [f"{width or ''} {text}".strip() for text in _settled(page, OPTIONS)]
    if widths and size:
        page.set_viewport_size(size)
    for theme in themes[1:]:
        set_theme(page, theme)
        found += [f"{theme} {text}" for text in _settled(page, CONTRAST)]
        set_theme(page, themes[0])
    return found


def load_axe(page: Page) -> None:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))


def _settled(page: Page, options: dict[str, object]) -> list[str]:
    """Return what axe still finds when the page has had the time to be drawn anew."""
    until = time.monotonic() + DRAWN_SECONDS
    page.wait_for_timeout(200)
    while (texts := page.evaluate(FOUND, options)) and time.monotonic() < until:
        page.wait_for_timeout(500)
    return list(texts)


def faults(page: Page) -> dict[str, object]:
    """Return what is wrong with an open page of the app: by axe in both themes, and in large type.

    The page ends as it was.
    """
    found: dict[str, object] = {}
    load_axe(page)
    found["light"] = page.evaluate(FOUND, OPTIONS)
    page.emulate_media(color_scheme="dark")
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(14, 17, 23)")
    expect(page.locator(".hl[data-theme=light]")).to_have_count(0)
    wait_until_idle(page)
    found["dark"] = page.evaluate(FOUND, CONTRAST)
    page.emulate_media(color_scheme="light")
    # In large type everything is legible from the last row, and nothing is beside the window.
    assert page.evaluate(SMALL)  # or it would find nothing ever
    page.keyboard.press("l")
    expect(page.locator(":root[data-large-type]")).to_have_count(1)
    wait_until_idle(page)
    found["large"] = page.evaluate(SMALL)
    edges = "e => [e.scrollWidth - e.clientWidth, e.getBoundingClientRect().bottom]"
    main = page.get_by_test_id("stMain").evaluate(edges)
    found["large, beside the window"] = main if main != [0, 720] else None
    page.keyboard.press("l")
    expect(page.get_by_test_id("stSidebar").get_by_text("Large type")).to_be_visible()  # the menu is back too
    return {what: wrong for what, wrong in found.items() if wrong}


def test_on_a_phone_the_header_covers_nothing_that_gets_the_focus(new_page: Callable[..., Page], app_url: str) -> None:
    page = new_page(viewport={"width": 390, "height": 844})
    below = """element => element.getBoundingClientRect().top -
        document.querySelector('.stAppHeader').getBoundingClientRect().bottom"""
    for link in ("/training?sentence=2", "/anatomy?kind=encoder&layer=1"):
        page.goto(app_url + link)
        wait_until_idle(page)
        button = page.locator(".stMain button:visible").nth(1)
        button.evaluate("button => document.querySelector('.stMain').scrollBy(0, button.getBoundingClientRect().top)")
        assert button.evaluate(below) < 0
        button.focus()
        assert button.evaluate(below) >= 0, link


def test_no_text_of_a_model_that_ships_lacks_a_letter(page: Page, app_url: str) -> None:
    """Every token that the models can write, and their examples. The app brings its own font for Hindi."""
    letters: set[str] = set()
    for folder in (ROOT / "checkpoints").iterdir():
        for path in folder.glob("*tokenizer.json"):
            vocabulary = json.loads(path.read_text("utf-8"))["model"]["vocab"]
            letters.update(*(token if isinstance(token, str) else token[0] for token in vocabulary))
        card = json.loads((folder / "card.json").read_text("utf-8"))
        letters |= {letter for example in examples(card) for letter in example.text}
    assert {"ह", "é", "ß"} <= letters
    page.goto(f"{app_url}/?model=english-hindi")
    expect(page.locator(".side.left .token").first).to_be_visible()
    assert page.evaluate(DRAWN, sorted(letters)) == []
    wait_until_idle(page)
    loaded = page.evaluate("[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family)")
    assert any("Noto Sans Devanagari" in family for family in loaded)
