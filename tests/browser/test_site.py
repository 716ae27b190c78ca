"""The live figures of the documentation's site: the views that its documents name, with the site's script and style.

`make docs` has the tool that builds the site; here a page stands for each document with a live figure.
"""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from shutil import copy

import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from headlight import checkpoints
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, truth
from headlight.web.model_file import round_weights
from headlight.web.publish import write_folder
from tests.browser.served import serve_folder
from tests.browser.test_lessons import LESSONS, reveal, step_of, told
from transformer import Translator
from ui.state import models

DOCS = Path(__file__).parents[2] / "docs"
VIEWS = {
    path.stem: found[1]
    for folder in (DOCS, DOCS / "pages")
    for path in sorted(folder.glob("*.md"))
    if (found := re.search(r"^<!-- live: (.+) -->$", path.read_text("utf-8"), re.MULTILINE))
}
PAGE = """<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="site.css">
<script defer src="live.js"></script></head>
<body data-theme="auto" style="margin: 0"><div style="padding: 0 min(3em, 4vw)">
<figure class="live" data-page="live/index.html#embed=sentence&amp;{view}"><p>A still</p><figcaption></figcaption>
</figure></div></body></html>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    write_folder("en-fr", folder / "live")
    for name in ("live.js", "site.css"):
        copy(DOCS / "_static" / name, folder)
    for name, view in VIEWS.items():
        (folder / f"{name}.html").write_text(PAGE.format(name=name, view=escape(view)), "utf-8")
    with serve_folder(folder) as address:
        yield address


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab that may complain of nothing, and in which nothing leaves the site."""
    tab, complaints = context.new_page(), list[str]()
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda message: complaints.append(message.text))
    yield tab
    assert complaints == []


def show(page: Page, site: str, name: str) -> FrameLocator:
    """Open the page and return its live view, once it is drawn in the place of the still."""
    page.goto(f"{site}/{name}.html")
    expect(page.locator(".live.drawn")).to_be_attached()
    expect(page.get_by_text("A still")).to_be_hidden()
    return page.frame_locator(".live iframe")


def assert_it_fits(page: Page) -> None:
    """Nothing scrolls sideways, and the frame has no scroll bar of its own."""
    assert page.evaluate("document.documentElement.scrollWidth === innerWidth")
    page.wait_for_function(
        "(({ innerWidth, innerHeight, document: { documentElement: all } }) =>"
        " all.scrollHeight === innerHeight && all.scrollWidth === innerWidth)(frames[0])"
    )


def test_a_sentence_is_typed_on_the_front_page(page: Page, site: str) -> None:
    view = show(page, site, "index")
    assert_it_fits(page)
    checkpoint = checkpoints.load("en-fr")
    round_weights(checkpoint.model)
    text = "I see a small dog."
    view.get_by_label("Type a sentence in English").fill(text)
    written = [label.removeprefix("▁") for label in Translator(checkpoint).translate(text).tokens]
    expect(view.locator(".token b")).to_have_text(written)
    config = checkpoint.model.config
    expect(view.locator(".thumb")).to_have_count(config.decoder.n_layers * config.decoder.n_heads)
    drawn = "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(v => v)"
    assert view.locator(".views canvas").first.evaluate(drawn)
    assert_it_fits(page)
    page.reload()  # an address of the frame is nothing that the site keeps
    expect(view.get_by_label("Type a sentence in English")).to_have_value("The little girl is eating a red apple.")


@pytest.mark.parametrize("name", VIEWS)
def test_every_figure_opens_what_its_document_names(page: Page, site: str, name: str) -> None:
    page.set_viewport_size({"width": 853, "height": 900})
    view, address = show(page, site, name), dict(part.split("=", 1) for part in VIEWS[name].split("&"))
    if "lesson" in address:
        (lesson,) = [lesson for lesson in LESSONS if lesson.name == address["lesson"]]
        expect(view.get_by_role("heading", name=lesson.title)).to_be_visible()
        expect(reveal(view)).to_be_visible()
        assert f"“{lesson.title}”" in (DOCS / "pages" / f"{name}.md").read_text("utf-8")
    elif address.get("page") == "lessons":
        expect(view.locator(".lessons a")).to_have_count(len(LESSONS))
    else:
        expect(view.locator(".player" if "page" in address else ".thumb").first).to_be_visible()
    assert_it_fits(page)


def test_the_first_step_of_a_lesson_is_played_on_a_phone(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    view, step = show(page, site, "anatomy"), step_of("query", "it-asks")
    view.get_by_role("radio", name="little").click()
    reveal(view).click()
    told(view)
    answer = truth(step, LessonComputer(models.translator, models.model_folder, base(step)))
    assert answer["explanation"][:20] in view.locator(".why").inner_text()
    assert_it_fits(page)


def test_the_theme_is_that_of_the_site(page: Page, site: str) -> None:
    view, length = show(page, site, "index"), page.evaluate("history.length")
    for chosen, theme in (("dark", "dark"), ("auto", "light"), ("dark", "dark"), ("light", "light")):
        page.evaluate("theme => { document.body.dataset.theme = theme; }", chosen)
        expect(view.locator("html")).to_have_attribute("data-theme", theme)
    page.evaluate("document.body.dataset.theme = 'auto'")
    page.emulate_media(color_scheme="dark")
    expect(view.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("history.length") == length  # the button that goes back leaves the page
    dark = show(page, site, "decoding")
    expect(dark.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_still_stays_where_nothing_can_be_drawn(browser: Browser, context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.route("**/model.bin*", lambda route: route.abort())
    page.goto(f"{site}/index.html")
    expect(page.locator("figcaption")).to_contain_text("The model could not be loaded; check your connection")
    expect(page.get_by_text("A still")).to_be_visible()
    without_script = browser.new_context(java_script_enabled=False)
    page = without_script.new_page()
    page.goto(f"{site}/index.html")
    expect(page.get_by_text("A still")).to_be_visible()
    without_script.close()
