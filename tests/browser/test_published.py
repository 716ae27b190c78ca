"""The published page in Chromium, opened as a file and without a network, held to Python with the same weights."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from headlight.analysis.layout import descriptions, lay_out, measures
from headlight.cli.verbs import main
from tests.browser import test_accessibility as accessibility
from tests.browser.served import open_damaged, serve_folder
from tests.browser.test_accessibility import Theme
from transformer import Translator
from transformer.taps import Ablate, Site
from transformer.trace import KINDS, Kind, Trace

TEXT = "The animal didn't cross the street because it was too wide."


def show(page: Page, file: Path, address: str = "") -> None:
    page.goto(f"{file.as_uri()}#{address}")
    page.locator(".thumb").first.wait_for()


def press_theme_button(page: Page, theme: Theme) -> None:
    """A published page does not follow the browser's theme. Keys, unlike a click, leave open what is open."""
    if page.locator("html").get_attribute("data-theme") != theme:
        page.get_by_role("button", name=f"{theme.capitalize()} theme").press("Enter")


violations = partial(accessibility.violations, themes=("light", "dark"), set_theme=press_theme_button)


def captions(page: Page, kind: Kind) -> list[str]:
    page.get_by_role("button", name=kind.capitalize(), exact=True).click()
    return [str(cell.get_attribute("aria-label")) for cell in page.locator(".thumb").all()]


def expected(trace: Trace, kind: Kind) -> list[str]:
    place = lay_out(trace, kind, words=False, hide=False)
    texts = descriptions(trace, place, measures(trace, place))
    return [
        f"Layer {n + 1}, head {h + 1}, {''.join(text)}" for n, layer in enumerate(texts) for h, text in enumerate(layer)
    ]


def tokens(page: Page) -> list[str]:
    return page.locator(".token b").all_inner_texts()


def test_all_that_it_says_is_what_the_model_computes(tab: Page, published: Path, published_model: Translator) -> None:
    show(tab, published, f"text={TEXT}")
    trace = published_model.trace(TEXT)
    assert tokens(tab) == [label.removeprefix("▁") for label in trace.target.labels[1:]]
    shares = [f"{round(100 * p)}" for p in [2.718281828459045**log for log in trace.log_probs]]
    assert [share.split()[-1] for share in tab.locator(".token small").all_inner_texts()] == [
        {"100": "99" if log < -1e-5 else "100"}.get(share, share)
        for share, log in zip(shares, trace.log_probs, strict=True)
    ]
    for kind in KINDS:
        assert captions(tab, kind) == expected(trace, kind)


def test_a_head_is_switched_off_and_on_again(tab: Page, published: Path, published_model: Translator) -> None:
    show(tab, published, f"text={TEXT}&layer=3&head=4")
    with_all = tokens(tab)
    tab.get_by_role("button", name="Switch this head off").click()
    expect(tab.get_by_text("1 head is off")).to_be_visible()
    trace = published_model.trace(TEXT, interventions=[Ablate(Site("decoder", 2, "cross"), 3)])
    expect(tab.locator(".token b")).to_have_text([label.removeprefix("▁") for label in trace.target.labels[1:]])
    assert captions(tab, "cross") == expected(trace, "cross")
    assert tab.url.endswith("layer=3&head=4&changes=cross.3.4")
    tab.reload()  # the link says so too
    expect(tab.get_by_text("1 head is off")).to_be_visible()
    tab.get_by_role("radio", name="Step by step").click()  # where the search is without the head as well
    expect(tab.locator(".player")).to_be_visible()
    expect(tab.get_by_text("1 head is off")).to_be_visible()
    tab.get_by_role("button", name="All on").click()
    expect(tab.locator(".token b")).to_have_text(with_all)


def test_what_is_typed_is_translated_and_the_last_wins(tab: Page, published: Path, published_model: Translator) -> None:
    show(tab, published)
    box = tab.get_by_label("Type a sentence in English")
    for text in ("The girl", "The girl sees", "The girl sees the dog."):
        box.fill(text)
        box.press("Enter")
    written = [label.removeprefix("▁") for label in published_model.translate("The girl sees the dog.").tokens]
    expect(tab.locator(".token b")).to_have_text(written)
    box.fill("   ")
    expect(tab.get_by_text("Type a sentence, and the model translates it")).to_be_visible()
    box.fill('<img src=x onerror="alert(1)"> Zyxqua quibble')
    expect(tab.get_by_text(re.compile("The model has never read .*; it will guess"))).to_be_visible()
    assert tab.locator("img").count() == 0
    box.fill("cat " * 190)
    expect(tab.get_by_text(re.compile(r"The sentence has \d+ tokens and this model reads at most 64"))).to_be_visible()


def test_step_by_step(tab: Page, published: Path, published_model: Translator) -> None:
    show(tab, published, f"text={TEXT}")
    tab.get_by_role("radio", name="Step by step").click()
    best = published_model.translate(TEXT, beam_size=3)
    expect(tab.locator(".player .stop")).to_have_text(["[SOS]", *best.tokens])
    tab.get_by_role("button", name="Step forward").click()
    expect(tab.get_by_role("heading", name=re.compile("^Step 2 of"))).to_be_visible()
    # Another token in the place of the second: the model goes on from there.
    other = tab.locator("button.candidate").first
    label = other.locator(".name").inner_text()
    other.click()
    expect(tab.get_by_text("You chose the token of step 2")).to_be_visible()
    expect(tab.locator(".player .stop").nth(2)).to_have_text(label)
    tokenizer = published_model.checkpoint.target_tokenizer
    forced = published_model.translate(TEXT, beam_size=3, prefix=[best.ids[0], tokenizer.named(label, best.ids[1])])
    expect(tab.locator(".player .stop")).to_have_text(["[SOS]", *forced.tokens])
    tab.get_by_role("button", name="Let it choose again").click()
    tab.get_by_role("radio", name="Greedy").click()
    expect(tab.locator(".player .stop")).to_have_text(["[SOS]", *published_model.translate(TEXT, beam_size=1).tokens])
    assert tab.url.endswith("&page=decoding&strategy=greedy")
    tab.get_by_role("radio", name="Every head").click()
    expect(tab.locator(".thumb").first).to_be_visible()


def test_a_link_opens_the_search_where_the_reader_stood(tab: Page, published: Path) -> None:
    tab.goto(f"{published.as_uri()}#text={TEXT}&page=decoding&size=2&step=3&layer=1&head=2&pruned=0&under=score")
    expect(tab.get_by_role("heading", name=re.compile("^Step 3 of"))).to_be_visible()
    expect(tab.get_by_label("Layer", exact=True)).to_have_value("0")
    expect(tab.get_by_label("Head", exact=True)).to_have_value("1")
    expect(tab.get_by_label("Show pruned hypotheses")).not_to_be_checked()
    expect(tab.get_by_label("Under each token")).to_have_value("score")
    tab.get_by_role("button", name="Step forward").click()
    tab.wait_for_url("**&step=4&**")
    assert tab.url.endswith("&layer=1&head=2&page=decoding&step=4&pruned=0&under=score&size=2")
    tab.reload()
    expect(tab.get_by_role("heading", name=re.compile("^Step 4 of"))).to_be_visible()
    tab.get_by_role("radio", name="Greedy").click()  # another search begins at its first step
    expect(tab.get_by_role("heading", name=re.compile("^Step 1 of"))).to_be_visible()


def test_keys_choose_a_head_and_the_theme_is_kept(tab: Page, published: Path) -> None:
    show(tab, published, f"text={TEXT}&layer=1&head=1")
    tab.locator('.thumb[aria-selected="true"]').press("ArrowDown")
    expect(tab.get_by_role("heading", name="Layer 2, head 1")).to_be_visible()
    assert "layer=2&head=1" in tab.url
    tab.get_by_role("button", name="Dark theme").click()
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_address_that_says_nonsense(tab: Page, published: Path) -> None:
    show(tab, published, "text=A%20dog.&kind=other&layer=99&head=0&changes=cross.9.9,x,encoder.1.1")
    expect(tab.get_by_role("heading", name=re.compile("^Layer"))).to_be_visible()
    expect(tab.get_by_text("1 head is off")).to_be_visible()  # of those that the address names, the model has one


@pytest.mark.parametrize("part", ["picture", "sentence"])
def test_within_another_page_it_shows_a_part_of_itself(tab: Page, published: Path, part: str) -> None:
    show(tab, published, f"text={TEXT}&layer=1&head=1&embed={part}&theme=dark")
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")
    expect(tab.get_by_role("heading", name="Headlight")).to_be_hidden()
    expect(tab.get_by_role("radio", name="Step by step")).to_be_hidden()
    expect(tab.get_by_label("Type a sentence in English")).to_be_visible(visible=part == "sentence")
    tab.locator(".thumb").nth(5).click()
    assert tab.url.endswith(f"&layer=2&head=2&embed={part}&theme=dark")
    whole = tab.get_by_role("link", name="Open as a page of its own")
    assert str(whole.get_attribute("href")).endswith("&layer=2&head=2")
    # The page around it changes its theme, and names another sentence.
    tab.evaluate("location.hash = location.hash.replace('dark', 'light')")
    expect(tab.locator("html")).to_have_attribute("data-theme", "light")
    tab.evaluate(f"location.hash = 'text={'cat ' * 190}&embed={part}'")
    expect(tab.get_by_text("this model reads at most 64")).to_be_visible()


def test_it_fits_a_phone(tab: Page, published: Path) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    show(tab, published, f"text={TEXT}")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
def test_a_file_that_is_cut_off_says_so(browser: Browser, published: Path, tmp_path: Path, share: float) -> None:
    page = published.read_bytes()
    cut = tmp_path / "cut.html"
    cut.write_bytes(page[: int(share * len(page))])
    tab = browser.new_page()
    tab.goto(cut.as_uri())
    expect(tab.get_by_text("If this stays, the file is not complete")).to_be_visible()
    assert tab.locator("#sentence").count() == 0
    tab.close()


@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        ("delete window.Worker", "This browser has no Worker, which the page needs"),
        ("delete window.DecompressionStream", "This browser has no DecompressionStream, which the page needs"),
        (
            "window.Worker = function () { throw new DOMException('no', 'SecurityError') }",
            "lets the page start no worker",
        ),
        ("delete Intl.Segmenter", "or the browser is from before"),
        ("delete window.ResizeObserver", "or the browser is from before"),
    ],
)
def test_a_browser_that_lacks_something_is_told(browser: Browser, published: Path, lacks: str, says: str) -> None:
    tab = browser.new_page()
    tab.add_init_script(lacks)
    tab.goto(published.as_uri())
    expect(tab.get_by_text(says)).to_be_visible()
    tab.close()


def test_axe_finds_nothing(browser: Browser, published: Path) -> None:
    """At both widths, with the export menu open, and in the search; the lessons have a test of their own."""
    tab = browser.new_page()
    show(tab, published, f"text={TEXT}")
    assert violations(tab, (1280, 390)) == []
    tab.get_by_text("Export", exact=True).click()
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 844})
        expect(tab.get_by_role("button", name="This head as SVG")).to_be_in_viewport()
        assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert violations(tab, (1280, 390)) == []
    tab.get_by_role("radio", name="Step by step").click()
    expect(tab.locator(".player")).to_be_visible()
    assert violations(tab, (1280, 390)) == []
    tab.close()


def test_the_keyboard_alone_is_enough(tab: Page, published: Path, tmp_path: Path) -> None:
    show(tab, published, f"text={TEXT}&layer=1&head=1")
    tab.get_by_label("Type a sentence in English").focus()
    for _ in range(30):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    with tab.expect_download() as waiting:
        tab.keyboard.press("Enter")
    assert waiting.value.suggested_filename.endswith(".svg")
    tab.keyboard.press("Escape")
    expect(tab.locator(".export-panel")).to_be_hidden()
    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"
    tab.keyboard.press("Tab")  # to the chosen head
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_role("heading", name="Layer 1, head 2")).to_be_visible()


def test_back_leads_to_the_page_before(tab: Page, published: Path) -> None:
    show(tab, published, f"text={TEXT}&layer=1&head=1")
    tab.locator(".thumb").nth(2).click()  # a choice on the same page is no step back
    tab.get_by_role("radio", name="Lessons").click()
    tab.locator(".lessons a").first.click()
    expect(tab.locator(".lesson-title")).to_be_visible()
    tab.go_back()
    expect(tab.locator(".lessons a").first).to_be_visible()
    tab.go_back()
    expect(tab.get_by_role("heading", name="Layer 1, head 3")).to_be_visible()
    expect(tab.get_by_label("Type a sentence in English")).to_have_value(TEXT)
    tab.go_forward()
    expect(tab.locator(".lessons a").first).to_be_visible()


def test_on_paper_the_page_is_light_and_without_controls(browser: Browser, published: Path, tmp_path: Path) -> None:
    tab = browser.new_page(color_scheme="dark")
    show(tab, published, f"text={TEXT}")
    corner = """() => {
        const { canvas, box } = document.querySelectorAll(".views .hl")[1].view, ratio = devicePixelRatio;
        const pen = canvas.getContext("2d");
        return [...pen.getImageData((box.x + box.w - 3) * ratio, (box.y + 3) * ratio, 1, 1).data];
    }"""
    dark = tab.evaluate(corner)
    assert max(dark[:3]) < 60
    printed = tab.evaluate(f"() => {{ dispatchEvent(new Event('beforeprint')); return ({corner})(); }}")
    assert min(printed[:3]) > 230  # without waiting for a frame
    tab.emulate_media(media="print")
    expect(tab.locator("html")).to_have_attribute("data-theme", "light")
    for hidden in (".export", ".pages", ".examples"):
        expect(tab.locator(hidden)).to_be_hidden()
    expect(tab.locator(".thumb").first).to_be_visible()
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.emulate_media(media="screen")
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")
    tab.wait_for_function(f"dark => String(({corner})()) === String(dark)", arg=dark)
    tab.close()


def test_two_tabs_of_one_file(tab: Page, published: Path, published_model: Translator) -> None:
    other = tab.context.new_page()
    show(tab, published, "text=The girl sees the dog.")
    show(other, published, "text=The cat.")
    for page, text in ((tab, "The girl sees the dog."), (other, "The cat.")):
        assert tokens(page) == [label.removeprefix("▁") for label in published_model.translate(text).tokens]


def test_a_damaged_file_says_so(browser: Browser, published: Path, tmp_path: Path) -> None:
    with open_damaged(browser, published, "model", 400_000, tmp_path / "broken.html") as tab:
        expect(tab.get_by_text("The model in this file is damaged; get the file again.")).to_be_visible()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("published") / "folder"
    assert main(["publish", "english-french", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[str]:
    with serve_folder(folder) as address:
        yield f"{address}/"


def test_a_folder_is_served_and_loads_a_model_when_it_is_needed(
    browser: Browser, served: str, published_model: Translator
) -> None:
    tab = browser.new_page()
    requested: list[str] = []
    tab.on("request", lambda request: requested.append(request.url.removeprefix(served).partition("?")[0]))
    tab.goto(f"{served}#text={TEXT}")
    tab.locator(".thumb").first.wait_for()
    assert captions(tab, "cross") == expected(published_model.trace(TEXT), "cross")
    assert [name for name in requested if not name.startswith("blob:")] == ["", "model.bin"]
    tab.close()


def test_a_folder_that_is_not_served_or_lacks_its_model_says_so(browser: Browser, folder: Path, served: str) -> None:
    tab = browser.new_page()
    tab.goto((folder / "index.html").as_uri())
    expect(tab.get_by_text("put the folder on a web server, or publish with --single")).to_be_visible()
    tab.route("**/model.bin*", lambda route: route.fulfill(status=404))
    tab.goto(served)
    expect(tab.get_by_text("The model could not be loaded; check your connection")).to_be_visible()
    tab.close()
