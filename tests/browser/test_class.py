"""A class: one teacher and three phones do a lesson together, in four windows of a real Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_accessibility import AXE, FOUND, OPTIONS
from tools.serving import wait_until_idle
from transformer.lessons import read

LESSON = read(Path(__file__).resolve().parents[2] / "lessons" / "it.md")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture
def pages(browser: Browser) -> Iterator[list[Page]]:
    contexts = [browser.new_context(viewport={"width": 1280, "height": 720})]
    contexts += [browser.new_context(**PHONE) for _ in range(3)]  # type: ignore[arg-type]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def answer(page: Page, number: int) -> None:
    """Some answer to whatever is asked."""
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_visible()
    choices, share = page.get_by_role("radio"), page.get_by_role("button", name="Share it out")
    expect(page.locator(".drawn > *").first).to_be_visible()
    if share.count():
        page.get_by_role("slider").nth(number).press("ArrowUp")  # by keys, then the rest at once
        share.click()
    elif choices.count():
        choices.nth(number % choices.count()).click()
    elif page.locator("input[type=range]").count():
        page.locator("input[type=range]").click()
    else:
        page.locator(".order button:enabled").first.click()
    send.click()
    expect(page.get_by_role("heading", name="Answered")).to_be_visible()
    expect(page.locator("#spoken")).to_have_text("Answered. Wait for the teacher.")


def test_a_class_does_a_lesson(app_url: str, pages: list[Page]) -> None:
    teacher, *pupils = pages
    errors: list[str] = []
    for page in pages:
        page.on("pageerror", lambda error: errors.append(str(error)))
    teacher.goto(f"{app_url}/lessons?lesson={LESSON.name}")
    wait_until_idle(teacher)
    teacher.get_by_role("button", name="Start a class").click()
    code = teacher.locator(".class-code").inner_text()
    pupils[0].goto(f"{app_url}/join")
    pupils[0].get_by_label("The class’s code").fill(code)
    pupils[0].get_by_role("button", name="Join").click()
    for pupil in pupils[1:]:
        pupil.goto(f"{app_url}/join?code={code.replace(' ', '')}")
    for number, step in enumerate(LESSON.steps, 1):
        for place, pupil in enumerate(pupils):
            expect(pupil.get_by_text(f"Step {number} of {len(LESSON.steps)}")).to_be_visible()
            answer(pupil, place)
        expect(teacher.get_by_text("3 of 3 answered")).to_be_visible()
        if number == 2:  # after talking, and over a reload of both sides
            assert "teacher" not in teacher.url  # a projector shows the address
            teacher.reload()
            teacher.get_by_role("button", name="Talk, then ask again").click()
            pupils[2].reload()
            for place, pupil in enumerate(pupils):
                expect(pupil.get_by_text("Once more, after talking.")).to_be_visible()
                answer(pupil, place + 1)
        assert all(pupil.locator(".why, .its").count() == 0 for pupil in pupils)
        teacher.get_by_role("button", name="Reveal", exact=True).click()
        for pupil in pupils:
            expect(pupil.locator(".why")).to_be_visible()
            expect(pupil.locator("#spoken")).to_contain_text("The answer: ")  # to a screen reader
            assert pupil.evaluate("document.documentElement.scrollWidth") <= 390, step.name
        if step.ask == "row":  # on a projector: the picture and what it means, at once, and every word whole
            expect(teacher.locator(".why")).to_be_in_viewport(ratio=1)
            bars, buttons = teacher.locator(".bars").bounding_box(), teacher.locator(".class-bar").bounding_box()
            assert bars and buttons and bars["y"] + bars["height"] <= buttons["y"]
            assert buttons["y"] + buttons["height"] <= 720
            names = teacher.locator(".columns-of span").evaluate_all(
                "all => all.map(e => e.scrollWidth <= e.clientWidth + 1)"
            )
            assert names and all(names)
            teacher.evaluate(AXE.read_text("utf-8"))
            assert teacher.evaluate(FOUND, OPTIONS) == []
        if number < len(LESSON.steps):
            teacher.get_by_role("button", name="Next", exact=True).click()
    teacher.get_by_role("button", name="End the class").click()
    teacher.get_by_role("button", name="End it now").click()
    for pupil in pupils:
        expect(pupil.get_by_role("heading", name="The class is over")).to_be_visible()
    assert errors == []
