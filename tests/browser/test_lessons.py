"""Lessons as a pupil goes through them, in a real Chromium: by mouse, by keyboard alone, and with a finger."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, truth
from headlight.teaching.lessons.reading import Step, shelf
from headlight.viewer.scripts import viewer_script
from tests.browser.conftest import Opener
from tests.browser.test_accessibility import violations
from tools.serving import wait_until_idle
from ui.state import models

ROOT = Path(__file__).parents[2]
LESSONS = shelf(ROOT / "lessons" / "en")
TEXT = "root => [root, ...root.querySelectorAll('*')].map(e => e.shadowRoot?.innerHTML ?? '').join() + root.innerHTML"


def step_of(lesson: str, name: str) -> Step:
    found = next(one for one in LESSONS if one.name == lesson)
    return found.steps[found.step(name)]


def reveal(page: Page) -> Locator:
    return page.get_by_role("button", name="Reveal")


def told(page: Page) -> None:
    expect(page.get_by_role("button", name="Guess again")).to_be_visible()


def answer_by_mouse(page: Page, ask: str) -> None:
    if ask == "row":
        page.get_by_role("slider").nth(1).click(position={"x": 8, "y": 40})
        page.get_by_role("button", name="Share it out").click()
    elif ask == "number":
        page.get_by_role("slider").click()
    elif ask == "order":
        page.get_by_role("button", name=re.compile("^Move .* down$")).first.click()
    else:
        page.locator(".question").get_by_role("radio").nth(1).click()
    reveal(page).click()


def answer_by_keyboard(page: Page, ask: str) -> None:
    if ask == "row":
        page.get_by_role("slider").first.focus()
        for key in ("ArrowUp", "ArrowRight", "End", "ArrowLeft", "PageUp"):  # the second has 100, and gives ten
            page.keyboard.press(key)
        assert page.get_by_role("slider").evaluate_all("all => all.slice(0, 2).map(e => e.ariaValueNow)") == [
            "10",
            "90",
        ]
    elif ask == "number":
        page.get_by_role("slider").press("ArrowRight")
        page.keyboard.press("Enter")  # the button is far away by the Tab key
        return
    elif ask == "order":
        page.get_by_role("button", name=re.compile("^Move .* down$")).first.press("Enter")
    else:
        page.locator(".question").get_by_role("radio").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".question").get_by_role("radio").nth(1)).to_be_checked()
        page.keyboard.press("Enter")
        return
    reveal(page).press("Enter")


def answer_about_a_typed_sentence(page: Page) -> None:
    """Play the last step of a lesson, at first with what is no sentence."""
    box = page.get_by_label("Type a sentence of your own")
    box.fill("12 ?")
    box.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="at least one word")).to_be_visible()
    box.fill("The <b>old</b> dog sleeps.")
    box.press("Enter")
    expect(page.get_by_text("The <b>old</b> dog sleeps.")).to_be_visible()
    page.get_by_role("button", name="Show me without a guess").click()
    told(page)
    page.get_by_role("button", name="Finish").click()


def test_what_is_to_be_guessed_is_in_the_browser_only_after_the_guess(fresh_page: Page, app_url: str) -> None:
    """Searched for in every message that came, in the address, and in all that the page holds."""
    page, messages = fresh_page, list[bytes]()

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: messages.append(frame if isinstance(frame, bytes) else frame.encode()))

    page.on("websocket", listen)
    step = step_of("it", "draw-its-row")
    answer = truth(step, LessonComputer(models.translator, models.model_folder, base(step)))
    shares, why = json.dumps(answer["answer"]).encode(), json.dumps(answer["explanation"]).encode()
    page.goto(f"{app_url}/lessons?lesson=it&step={step.name}")
    expect(page.get_by_role("slider").first).to_be_visible()
    wait_until_idle(page)
    page.get_by_role("button", name="Hint").click()
    expect(page.get_by_text("A row always shares out 100 %.")).to_be_visible()
    assert violations(page) == []
    assert any(b"A row always shares out" in message for message in messages)
    assert not any(shares in message or why in message for message in messages)
    known = page.evaluate(f"({TEXT})(document.documentElement)") + page.url
    assert answer["explanation"][:20] not in known and "what the head does" not in known
    answer_by_keyboard(page, step.ask)
    told(page)
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_focused()
    assert any(shares in message and why in message for message in messages)
    expect(page.locator(".verdict")).to_contain_text(re.compile(r"\d+.%overlap.*spread evenly \d+.%", re.S))
    wait_until_idle(page)
    assert violations(page) == []
    # On paper.
    page.get_by_role("button", name="Handout").click()
    with page.expect_download() as given:
        page.get_by_role("button", name="With the answers").click()
    assert json.loads(why) in html.unescape(Path(given.value.path()).read_text("utf-8"))
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="With the answers")).to_have_count(0)
    # Where one came from, the list says how far one is, and the link brings it to another browser.
    page.get_by_role("button", name="All lessons").press("Enter")
    link = page.get_by_role("link", name=re.compile("What does “it” mean"))
    expect(link.locator(".dots .full")).to_have_count(1)
    assert set(page.evaluate("JSON.parse(localStorage['headlight-lessons']).it")) == {step.name}


@pytest.mark.parametrize(
    ("by", "name", "other"),
    [(answer_by_mouse, "it", ("vectors", "near-and-far")), (answer_by_keyboard, "query", ("heads", "the-sharpest"))],
)
def test_a_whole_lesson_and_every_kind_of_question(
    page: Page, app_url: str, by: Any, name: str, other: tuple[str, str]
) -> None:
    """`other` is a step of the kind of question that the lesson lacks.

    The server sends what differs between lessons: tests/lessons computes every step of all of them.
    """
    lesson = next(lesson for lesson in LESSONS if lesson.name == name)
    asked = {step.ask for step in (*lesson.steps, step_of(*other))}
    assert asked == {step.ask for lesson in LESSONS for step in lesson.steps}
    page.goto(f"{app_url}/lessons?lesson={name}")
    for i, step in enumerate(lesson.steps):
        expect(page.locator(".steps .now")).to_have_attribute("aria-label", re.compile(f"^Step {i + 1}, "))
        expect(reveal(page)).to_be_visible()
        by(page, step.ask)
        told(page)
        more = page.get_by_role("button", name=re.compile("^(Next|Finish)$"))
        more.click() if by is answer_by_mouse else more.press("Enter")
    answer_about_a_typed_sentence(page)
    row = page.get_by_role("link", name=re.compile(re.escape(lesson.title)))
    expect(row.locator(".dots .full")).to_have_count(len(lesson.steps) + 1)
    expect(row).to_contain_text(re.compile(r"\d of \d as guessed"))
    page.goto(f"{app_url}/lessons?lesson={other[0]}&step={other[1]}")
    expect(reveal(page)).to_be_visible()
    by(page, step_of(*other).ask)
    told(page)


def test_a_worksheet_on_a_phone_is_one_step_and_nothing_else(new_page: Opener, app_url: str) -> None:
    page = new_page(fresh=True, viewport={"width": 390, "height": 844}, has_touch=True)
    page.goto(f"{app_url}/lessons?lesson=it&step=draw-its-row&only=1")
    bar = page.get_by_role("slider").nth(3)
    expect(bar).to_be_visible()
    wait_until_idle(page)
    for part in ("stSidebar", "stSidebarNavLink", "stMainMenu"):
        assert not page.get_by_test_id(part).is_visible()
    expect(page.locator("a:not([href^='#'])")).to_have_count(0)  # but the one that skips to the page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    bar.tap(position={"x": 100, "y": 15})
    expect(bar).not_to_have_attribute("aria-valuenow", "0")
    page.get_by_role("button", name="Share it out").tap()
    reveal(page).tap()
    told(page)
    expect(page.get_by_role("button", name="Next", exact=True)).to_have_count(0)
    assert "only=1" in page.url
    # Progress that a link brings is kept by this browser, and is in the address no longer.
    page.goto(f"{app_url}/lessons?done=it:95----,nowhere:1")
    expect(page.get_by_role("link", name=re.compile("What does “it” mean"))).to_contain_text("Go on at step 4")
    wait_until_idle(page)
    assert page.url == f"{app_url}/lessons"


# ---- the scripts alone -----------------------------------------------------------------------------------------------


def test_bars_share_out_a_hundred_per_cent(new_page: Opener) -> None:
    page = new_page(fresh=True)
    names = ("icons", "prose", "storage", "progress", "question_head", "question_row", "question_order", "question")
    page.add_script_tag(content=viewer_script(*names))
    assert page.evaluate("withBar([10, 20, 0], 2, 30)") == [10, 20, 30]  # there is still some to give
    assert page.evaluate("withBar([60, 30, 10], 2, 40)") == [40, 20, 40]  # the others give by their size
    assert page.evaluate("withBar([0, 100, 0], 0, 250)") == [100, 0, 0]
    assert page.evaluate("sharedOut([0, 0, 0])") == [34, 33, 33]
    assert page.evaluate("sharedOut([10, 30, 0])") == [25, 75, 0]
    shown = "value => withUnit(value, { unit: '%', step: 1 })"
    assert [page.evaluate(shown, value) for value in (0.004, 0, 97.21)] == ["under 1\u00a0%", "0\u00a0%", "97.2\u00a0%"]
    # A teacher's text is never markup of the page.
    hostile = "<img src=x onerror=alert(1)> **bold** and *so*"
    html = page.evaluate("it => prose(it).innerHTML", hostile)
    assert html == "<p>&lt;img src=x onerror=alert(1)&gt; <strong>bold</strong> and <em>so</em></p>"
    lessons = [{"name": "a", "steps": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}]
    done = {"a": {"x": {"score": 1}, "z": {"score": None}}}
    assert page.evaluate("([lessons, done]) => progressText(lessons, done)", [lessons, done]) == "a:9-s"
