"""A gallery in Chromium, opened as a file and without a network: live pictures, each held to Python."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from headlight import checkpoints
from headlight.cli.verbs import main
from headlight.viewer.export import WITHOUT_MODEL
from headlight.web.model_file import round_weights
from tests.browser.served import open_damaged
from tests.browser.test_published import expected, violations
from tests.web.test_gallery import EXAMPLE
from transformer import Translator
from transformer.taps import Ablate, Site

TEXT = "The animal didn't cross the street because it was too wide."
TRACED = "The girl sees the dog."


@pytest.fixture(scope="module")
def models() -> dict[str, Translator]:
    """The models of the page, with its rounded weights."""
    translators = {}
    for name in ("english-french", "reverse"):
        checkpoint = checkpoints.load(name)
        round_weights(checkpoint.model)
        translators[name] = Translator(checkpoint)
    return translators


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, models: dict[str, Translator]) -> Path:
    """The documentation's example, and after it another model and a trace."""
    folder = tmp_path_factory.mktemp("gallery")
    models["english-french"].trace(TRACED).save(folder / "dog.npz")
    more = "\n\nhttp://localhost:8501/decoding?model=reverse&text=abc&strategy=greedy&layer=2&head=1\n\ndog.npz\n"
    (folder / "it.txt").write_text(EXAMPLE + more, "utf-8")
    path = folder / "it.html"
    assert main(["publish", "--gallery", str(folder / "it.txt"), "--single", str(path)]) == 0
    return path


def pictures(page: Page, file: Path) -> list[Locator]:
    page.goto(file.as_uri())
    found = page.locator(".live-picture")
    expect(found).to_have_count(5)
    for n in (0, 1, 4):
        found.nth(n).locator(".thumb").first.wait_for()
    for n in (2, 3):
        found.nth(n).locator(".player").wait_for()
    return found.all()


def captions(picture: Locator) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in picture.locator(".thumb").all()]


def labels(translator: Translator, text: str) -> list[str]:
    return [label.removeprefix("▁") for label in translator.translate(text).tokens]


def test_each_picture_is_what_its_model_computes(tab: Page, file: Path, models: dict[str, Translator]) -> None:
    first, without, search, letters, traced = pictures(tab, file)
    model = models["english-french"]
    expect(tab.get_by_role("heading", level=1)).to_have_text('What does "it" mean?')
    expect(tab.locator("em").first).to_have_text("tired")
    assert captions(first) == expected(model.trace(TEXT), "cross")
    expect(first.get_by_role("heading", name="Layer 3, head 4", exact=True)).to_be_visible()
    off = model.trace(TEXT, interventions=[Ablate(Site("decoder", 2, "cross"), 3)])
    assert captions(without) == expected(off, "cross")
    expect(without.get_by_text("1 head is off")).to_be_visible()
    expect(search.locator(".player .stop")).to_have_text(["[SOS]", *model.translate(TRACED, beam_size=2).tokens])
    expect(search.get_by_role("heading", name=re.compile("^Step 3 of"))).to_be_visible()
    expect(letters.locator(".player .stop")).to_have_text(["[SOS]", *models["reverse"].translate("abc").tokens])
    expect(letters.get_by_label("Layer", exact=True)).to_have_value("1")
    expect(letters.get_by_label("Head", exact=True)).to_have_value("0")
    assert captions(traced) == expected(model.trace(TRACED), "cross")
    expect(traced.get_by_text(WITHOUT_MODEL[10:])).to_be_visible()
    assert traced.get_by_role("textbox").count() == 0
    assert len(tab.workers) == 2  # one for each model
    expect(tab.locator("footer")).to_contain_text("Its weights have 10 bits")


def test_a_picture_is_changed_alone(tab: Page, file: Path, models: dict[str, Translator]) -> None:
    first, without, search, _, traced = pictures(tab, file)
    before = captions(without)
    box = first.get_by_label("Type a sentence in English")
    box.fill(TRACED)
    expect(first.locator(".token b")).to_have_text(labels(models["english-french"], TRACED))
    expect(first.locator(".written")).to_have_attribute("aria-live", "polite")
    expect(without.locator(".written")).to_have_attribute("aria-live", "off")
    box.fill("cat " * 190)
    expect(first.get_by_text("this model reads at most 64")).to_be_visible()
    first.locator('.thumb[aria-selected="true"]').press("ArrowUp")
    expect(first.get_by_role("heading", name="Layer 2, head 4", exact=True)).to_be_visible()
    traced.get_by_role("button", name="Encoder").click()
    expect(traced.get_by_role("button", name="Encoder")).to_have_attribute("aria-pressed", "true")
    assert captions(without) == before
    expect(without.get_by_role("button", name="Cross", exact=True)).to_have_attribute("aria-pressed", "true")
    # Keys that are pressed on nothing move none of the players; within one they move that one.
    tab.locator("body").press("ArrowRight")
    expect(search.get_by_role("heading", name=re.compile("^Step 3 of"))).to_be_visible()
    search.get_by_role("slider", name="Step").press("ArrowRight")
    expect(search.get_by_role("heading", name=re.compile("^Step 4 of"))).to_be_visible()
    assert "#" not in tab.url


def test_it_fits_and_can_be_read_by_everyone(tab: Page, file: Path) -> None:
    pictures(tab, file)
    for width in (1280, 853, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        expect(tab.get_by_role("region", name=f"Attention: {TEXT}")).to_have_count(2)


def test_a_picture_alone_has_no_sentence_to_type(tab: Page, tmp_path: Path) -> None:
    address = "http://localhost:8501/?model=reverse&text=abc&embed=picture"
    (tmp_path / "letters.txt").write_text(f"<script>alert(1)</script>\n\n{address}\n", "utf-8")
    page = tmp_path / "letters.html"
    assert main(["publish", "--gallery", str(tmp_path / "letters.txt"), "--single", str(page)]) == 0
    tab.goto(page.as_uri())
    expect(tab.locator(".thumb").first).to_be_visible()
    expect(tab.get_by_role("textbox")).to_be_hidden()
    expect(tab.get_by_text("<script>alert(1)</script>")).to_be_visible()


def test_a_damaged_model_is_said_in_its_pictures_alone(browser: Browser, file: Path, tmp_path: Path) -> None:
    with open_damaged(browser, file, "model-0", 400_000, tmp_path / "broken.html") as tab:
        expect(tab.get_by_text("The model in this file is damaged; get the file again.")).to_have_count(3)
        expect(tab.locator(".live-picture").nth(3).locator(".player")).to_be_visible()
        expect(tab.locator(".live-picture").nth(4).locator(".thumb").first).to_be_visible()
