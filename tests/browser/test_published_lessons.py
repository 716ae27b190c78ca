"""The lessons of a published page, played in Chromium from a file and without a network."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from headlight.cli.verbs import main
from headlight.glossary import glossary
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, truth
from tests.browser.served import open_damaged
from tests.browser.test_lessons import (
    LESSONS,
    answer_about_a_typed_sentence,
    answer_by_keyboard,
    answer_by_mouse,
    reveal,
    step_of,
    told,
)
from tests.browser.test_published import violations
from ui.state import models


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the model that most lessons are about."""
    path = tmp_path_factory.mktemp("published") / "page.html"
    assert main(["publish", "en-fr", "--single", str(path)]) == 0
    assert path.stat().st_size < 16_000_000
    return path


def link_to(page: Page, title: str) -> Locator:
    return page.get_by_role("link", name=re.compile(re.escape(title)))


@pytest.mark.parametrize(
    ("by", "names"),
    [(answer_by_mouse, ["vectors", "cross", "it", "born"]), (answer_by_keyboard, ["query", "heads"])],
)
def test_whole_lessons(tab: Page, file: Path, by: Callable[[Page, str], None], names: list[str]) -> None:
    """Every kind of question; "it" uses another model, which is in the file, and the answers of "born" are recorded."""
    lessons = [lesson for lesson in LESSONS if lesson.name in names]
    assert {step.ask for lesson in lessons for step in lesson.steps} == {
        step.ask for lesson in LESSONS for step in lesson.steps
    }
    tab.goto(f"{file.as_uri()}#page=lessons")
    expect(tab.locator(".lessons a")).to_have_count(len(LESSONS))
    for lesson in lessons:
        link = link_to(tab, lesson.title)
        link.click() if by is answer_by_mouse else link.press("Enter")
        for i, step in enumerate(lesson.steps):
            expect(tab.locator(".steps .now")).to_have_attribute("aria-label", re.compile(f"^Step {i + 1}, "))
            expect(reveal(tab)).to_be_visible()
            by(tab, step.ask)
            told(tab)
            assert tab.url.endswith(f"#page=lessons&lesson={lesson.name}&step={step.name}")
            more = tab.get_by_role("button", name=re.compile("^(Next|Finish)$"))
            more.click() if by is answer_by_mouse else more.press("Enter")
        typed = lesson.name != "born"  # its question needs a snapshot, which no page has
        if typed:
            answer_about_a_typed_sentence(tab)
        expect(link.locator(".dots .full")).to_have_count(len(lesson.steps) + typed)
        expect(link).to_contain_text(re.compile(r"\d of \d as guessed"))
    tab.reload()  # the browser keeps what was done
    expect(link.locator(".dots .full")).to_have_count(len(lessons[-1].steps) + typed)


@pytest.mark.parametrize("name", ["draw-its-row", "switch-it-off"])
def test_a_link_opens_a_step_and_the_answer_comes_after_the_guess(tab: Page, file: Path, name: str) -> None:
    step = step_of("it", name)
    answer = truth(step, LessonComputer(models.translator, models.model_folder, base(step)))
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=it&step={name}")
    expect(reveal(tab)).to_be_visible()
    if step.ask == "row":
        assert violations(tab, (1280, 390)) == []
    assert answer["explanation"][:30] not in tab.locator("body").inner_text()
    tab.get_by_role("button", name="Show me without a guess").click()
    told(tab)
    assert answer["explanation"][:30] in tab.locator(".why").inner_text()
    expect(tab.get_by_text("Computed in this browser from english-french")).to_be_visible()
    assert violations(tab, (1280, 390)) == []
    tab.set_viewport_size({"width": 390, "height": 844})
    expect(tab.locator(".why")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_from_a_step_to_its_sentence_and_back(tab: Page, file: Path) -> None:
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=query&step=it-asks")
    expect(reveal(tab)).to_be_visible()
    tab.get_by_role("link", name="query").hover()
    expect(tab.get_by_role("tooltip")).to_contain_text(glossary()["query"])
    tab.get_by_role("link", name="query").click()  # it leads nowhere
    answer_by_keyboard(tab, "word")
    told(tab)
    tab.get_by_role("link", name="Try your own sentence").click()
    expect(tab.get_by_label("Type a sentence in English")).to_have_value("The little girl is eating a red apple.")
    expect(tab.get_by_role("heading", name="Layer 2, head 2")).to_be_visible()
    card = tab.locator(".lessons-strip").get_by_role("link", name=re.compile("One word asks"))
    expect(card).to_contain_text("Go on at step 2")
    assert violations(tab, (1280, 390)) == []
    card.click()
    expect(tab.locator(".steps .now")).to_have_attribute("aria-label", re.compile("^Step 2, "))
    assert tab.evaluate("scrollY") == 0
    tab.get_by_role("button", name="Step back").click()
    told(tab)  # what was revealed stays so
    tab.get_by_role("radio", name="Every head").click()
    tab.get_by_role("radio", name="Lessons").click()
    told(tab)
    tab.get_by_role("button", name="All lessons").click()
    expect(link_to(tab, "One word asks").locator(".dots .full")).to_have_count(1)
    assert violations(tab, (1280, 390)) == []


def test_a_step_with_a_long_name_fits_a_phone(tab: Page, file: Path) -> None:
    tab.set_viewport_size({"width": 390, "height": 844})
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=decoding&step=more-is-not-always-better")
    expect(reveal(tab)).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


def test_a_damaged_small_model_costs_its_lessons_only(browser: Browser, file: Path, tmp_path: Path) -> None:
    address = "#page=lessons&lesson=break&step=loss-0"
    with open_damaged(browser, file, "model-reverse-unmasked", 40_000, tmp_path / "broken.html", address) as tab:
        expect(tab.get_by_text("The model reverse-unmasked in this file is damaged or missing")).to_be_visible()
        tab.get_by_role("button", name="All lessons").click()
        link_to(tab, "Words as vectors").click()
        expect(reveal(tab)).to_be_visible()


def test_progress_comes_with_a_link_and_nonsense_shows_the_list(tab: Page, file: Path) -> None:
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=nowhere&done=it:95----,nowhere:1")
    expect(link_to(tab, "What does “it” mean")).to_contain_text("Go on at step 3")
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=it&step=nowhere")
    expect(tab.locator(".steps .now")).to_have_attribute("aria-label", re.compile("^Step 1, "))


def test_where_nothing_may_be_stored_progress_lasts_as_long_as_the_page(tab: Page, file: Path) -> None:
    tab.add_init_script("Storage.prototype.getItem = Storage.prototype.setItem = () => { throw new Error('no') }")
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=born&step=before-it-starts")
    expect(reveal(tab)).to_be_visible()
    answer_by_mouse(tab, "choice")
    told(tab)
    expect(tab.get_by_text("its numbers were recorded")).to_be_visible()
    tab.get_by_role("button", name="All lessons").click()
    expect(link_to(tab, "How a head is born").locator(".dots .full")).to_have_count(1)


def test_a_page_in_french(tab: Page, tmp_path: Path) -> None:
    """The page, its lessons and the errors of its worker: an English sentence among them was forgotten."""
    file = tmp_path / "page.html"
    assert main(["publish", "english-french", "--single", str(file), "--language", "fr"]) == 0
    tab.goto(file.as_uri())
    expect(tab.locator("html")).to_have_attribute("lang", "fr")
    expect(tab.get_by_label("Tape une phrase en anglais")).to_be_visible()
    expect(tab.locator(".thumb").first).to_have_attribute("aria-label", re.compile("^Couche 1, tête 1"))
    tab.get_by_role("button", name="Éteindre cette tête").click()
    expect(tab.get_by_text("1 tête est éteinte")).to_be_visible()
    tab.get_by_label("Tape une phrase en anglais").fill("a " * 200)
    expect(tab.get_by_text(re.compile("La phrase compte 201 tokens"))).to_be_visible()
    tab.goto(f"{file.as_uri()}#page=lessons&lesson=break&step=no-positions")
    expect(tab.get_by_role("heading", name="Casse-le")).to_be_visible()
    expect(tab.get_by_text(re.compile(r"^Leçon 8"))).to_be_visible()
