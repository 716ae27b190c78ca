"""A class: one teacher and two phones do a lesson together, in three windows of a real Chromium."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from headlight.teaching.lessons.reading import Step, read
from tests.browser.dropped import DroppedFragments
from tests.browser.test_accessibility import violations
from tools.serving import wait_until_idle

LESSON = read(Path(__file__).resolve().parents[2] / "lessons" / "en" / "it.md")
THEMES = ("light", "dark")  # of the phones
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}


@pytest.fixture
def pages(browser: Browser) -> Iterator[list[Page]]:
    contexts = [browser.new_context(viewport={"width": 1280, "height": 720})]
    contexts += [browser.new_context(**PHONE, color_scheme=theme) for theme in THEMES]  # type: ignore[arg-type]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def answer(page: Page, number: int) -> None:
    """Answer the question on the page, whatever its kind; the answer need not be right."""
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


def says_the_sentence(page: Page, step: Step) -> bool:
    """Whether the introduction and the whole sentence stand with the question."""
    first = step.text.replace("**", "").split(". ")[0].split("\n")[0]
    return all(page.get_by_text(text).first.is_visible() for text in (first, step.query["text"]))


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
    pupils[1].goto(f"{app_url}/join")
    expect(pupils[1].get_by_label("The class’s code")).to_be_visible()
    assert violations(pupils[1]) == []
    pupils[1].goto(f"{app_url}/join?code={code.replace(' ', '')}")
    for number, step in enumerate(LESSON.steps, 1):
        if step.ask == "row":
            fits_a_projector_in_large_type(teacher)
        for place, pupil in enumerate(pupils):
            expect(pupil.get_by_text(f"Step {number} of {len(LESSON.steps) + 1}")).to_be_visible()
            assert says_the_sentence(pupil, step), step.name
            if place == number % 2:  # before the answer in one theme, and after it in the other
                assert violations(pupil) == [], step.name
            answer(pupil, place)
        expect(teacher.get_by_text("2 of 2 answered")).to_be_visible()
        assert says_the_sentence(teacher, step), step.name
        if number == 2:  # after talking, and over a reload of both sides
            assert "teacher" not in teacher.url  # a projector shows the address
            teacher.reload()
            teacher.get_by_role("button", name="Talk, then ask again").click()
            pupils[1].reload()
            for place, pupil in enumerate(pupils):
                expect(pupil.get_by_text("Once more, after talking.")).to_be_visible()
                answer(pupil, place + 1)
        assert all(pupil.locator(".why, .its").count() == 0 for pupil in pupils)
        teacher.get_by_role("button", name="Reveal", exact=True).click()
        for pupil in pupils:
            expect(pupil.locator(".why")).to_be_visible()
            expect(pupil.locator("#spoken")).to_contain_text("The answer: ")  # to a screen reader
            assert pupil.evaluate("document.documentElement.scrollWidth") <= 390, step.name
        assert violations(pupils[1 - number % 2]) == [], step.name
        if step.ask == "row":  # on a projector: the picture and what it means, at once, and every word whole
            expect(teacher.locator(".why")).to_be_in_viewport(ratio=1)
            bars, buttons = teacher.locator(".bars").bounding_box(), teacher.locator(".class-bar").bounding_box()
            assert bars and buttons and bars["y"] + bars["height"] <= buttons["y"]
            assert buttons["y"] + buttons["height"] <= 720
            assert teacher.locator(".big").inner_text() != "0\u00a0%"  # of rows, hardly one is the head's own
            names = teacher.locator(".columns-of span").evaluate_all(
                "all => all.map(e => e.scrollWidth <= e.clientWidth + 1)"
            )
            assert names and all(names)
            assert violations(teacher, (1280, 390), ("light", "dark")) == []
        if number < len(LESSON.steps):
            teacher.get_by_role("button", name="Next", exact=True).click()
    teacher.get_by_role("button", name="Next", exact=True).click()  # to a sentence that the class calls out
    box = teacher.get_by_role("textbox", name=re.compile("A sentence from the class"))
    box.fill("The old dog sleeps.")
    box.press("Enter")
    wait_until_idle(teacher)
    teacher.get_by_role("button", name="Ask this step").click()
    pupils[0].get_by_role("button", name="Sure", exact=True).click()
    for place, pupil in enumerate(pupils):
        expect(pupil.get_by_text("“The old dog sleeps.”", exact=True)).to_be_visible()
        answer(pupil, place)
    assert violations(pupils[0]) == []
    pupils[0].reload()
    pupils[0].get_by_role("button", name="Change my answer").click()
    expect(pupils[0].get_by_role("button", name="Sure", exact=True)).to_have_attribute("aria-pressed", "true")
    teacher.get_by_role("button", name="Reveal", exact=True).click()
    expect(teacher.get_by_text("Of 1 who said how sure they are")).to_be_visible()
    teacher.get_by_role("button", name="End the class").click()
    teacher.get_by_role("button", name="End it now").click()
    for pupil in pupils:
        expect(pupil.get_by_role("heading", name="The class is over")).to_be_visible()
    assert violations(pupils[1]) == []
    assert errors == []


def fits_a_projector_in_large_type(teacher: Page) -> None:
    """The code, the counters and the question are on the first screen, above the buttons."""
    wait_until_idle(teacher)
    teacher.keyboard.press("l")
    expect(teacher.locator("html[data-large-type]")).to_have_count(1)
    wait_until_idle(teacher)
    bar = teacher.locator(".class-bar").bounding_box()
    assert bar and bar["y"] + bar["height"] <= 720
    for part in (".class-code", ".counts", ".rail-of", ".introduction", "h2", ".matrix .sheet-of"):
        box = teacher.locator(part).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= bar["y"], part
    smallest = teacher.locator(".class-room").evaluate(
        """room => Math.min(...[...room.querySelectorAll("*")].filter(e => e.checkVisibility() &&
            [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).map(
            e => e.currentCSSZoom * parseFloat(getComputedStyle(e).fontSize)))"""
    )
    assert smallest >= 18
    teacher.keyboard.press("l")
    expect(teacher.locator("html[data-large-type]")).to_have_count(0)


def test_axe_finds_nothing_before_and_after_the_start_and_in_an_order(app_url: str, pages: list[Page]) -> None:
    """The kind of question that the lesson above lacks, and the teacher's page with nobody in the class."""
    teacher, *pupils = pages
    code = start(teacher, app_url, "near-and-far", "vectors")
    assert violations(teacher, (1280, 390), ("light", "dark")) == []
    for pupil in pupils:
        pupil.goto(f"{app_url}/join?code={code}")
        expect(pupil.locator(".order button").first).to_be_visible()
        assert violations(pupil) == []
        answer(pupil, 0)
    assert violations(teacher, themes=("light", "dark")) == []
    teacher.get_by_role("button", name="Reveal", exact=True).click()
    for pupil in pupils:
        expect(pupil.locator(".why")).to_be_visible()
        assert violations(pupil) == []
    assert violations(teacher, (1280, 390), ("light", "dark")) == []


def test_the_results_follow_a_pick_outlasts_a_lock_and_the_split_is_private(app_url: str, pages: list[Page]) -> None:
    teacher, pupil, late = pages
    code = start(teacher, app_url, "find-the-head")
    pupil.goto(f"{app_url}/join?code={code}")
    pupil.get_by_role("radio").nth(5).click()
    teacher.get_by_role("button", name="Lock answers").hover()
    teacher.mouse.down()
    late.goto(f"{app_url}/join?code={code}")  # the counts change while the button is pressed
    expect(teacher.get_by_text("0 of 2 answered")).to_be_visible()
    teacher.mouse.up()
    expect(pupil.get_by_text("Answers are closed.", exact=True)).to_be_visible()
    teacher.get_by_role("button", name="Open answers").click()
    expect(pupil.get_by_role("radio").nth(5)).to_have_attribute("aria-checked", "true")
    teacher.get_by_role("button", name="Results", exact=True).click()
    answered = teacher.get_by_test_id("stTable").locator("td").nth(1)
    expect(answered).to_have_text("0")
    pupil.get_by_role("button", name="Send").click()
    expect(answered).to_have_text("1", timeout=2000)
    teacher.keyboard.press("Escape")

    teacher.get_by_role("button", name="See the split").click()
    with teacher.expect_popup() as window:
        teacher.get_by_role("link", name="Open in a second window").click()
    expect(window.value.get_by_text("The projector does not show it.")).to_be_visible(timeout=30_000)
    expect(window.value.get_by_text("layer 2, head 2", exact=True)).to_be_visible()
    assert violations(window.value, (1280, 390), ("light", "dark")) == []
    late.goto(window.value.url)  # the address alone shows nothing
    expect(late.get_by_text("Open this class by its teacher’s link")).to_be_visible(timeout=30_000)
    assert teacher.get_by_text("layer 2, head 2").count() == 0
    window.value.get_by_role("button", name="Reveal").click()
    expect(teacher.get_by_text("layer 2, head 2", exact=True)).to_be_visible()
    window.value.close()


def test_a_teacher_s_link_teaches_elsewhere_and_a_false_one_takes_nothing(app_url: str, pages: list[Page]) -> None:
    teacher, other, *_ = pages
    code = start(teacher, app_url, "which-word")
    name = f"headlight-class-{code}"
    secret = teacher.evaluate("name => localStorage.getItem(name)", name)
    address = f"{app_url}/lessons?lesson={LESSON.name}&step=which-word&code={code}"
    teacher.context.grant_permissions(["clipboard-read", "clipboard-write"])
    teacher.get_by_role("button", name="Teach elsewhere").click()
    teacher.get_by_role("button", name="Copy the teacher’s link").click()
    expect(teacher.get_by_role("button", name="Copied")).to_be_visible()
    link = teacher.evaluate("navigator.clipboard.readText()")
    assert link.endswith(f"#teacher={secret}") and secret not in link.partition("#")[0] and f"code={code}" in link
    other.goto(f"{address}#teacher=false")
    expect(other.get_by_text("There is no class of this code and this teacher’s link")).to_be_visible(timeout=30_000)
    sent: list[str] = []
    other.on("request", lambda request: sent.append(request.url))
    for given in (secret, "false"):  # the false one, where the browser has the real one
        other.goto("about:blank")
        other.goto(f"{address}#teacher={given}")
        expect(other.locator(".class-code")).to_be_visible(timeout=30_000)
        wait_until_idle(other)
        assert "#" not in other.url and secret not in other.url
        assert other.evaluate("name => localStorage.getItem(name)", name) == secret
    assert not [url for url in sent if secret in url.partition("#")[0]]


# A tab that is shared, as far as the script can tell.
SHARED = """navigator.mediaDevices.getDisplayMedia = async () => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
  setInterval(() => pen.fillRect(0, 0, 50 * Math.random(), 9), 50);
  return canvas.captureStream(20);
}"""


def test_the_csv_is_saved_while_the_page_runs(app_url: str, pages: list[Page]) -> None:
    """The browser clicks while it has not yet received what the server's last run of the page changed."""
    teacher, held, late = pages[0], [], False

    def connect(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda message: server.send(message))
        server.on_message(lambda message: held.append((socket, message)) if late else socket.send(message))

    teacher.route_web_socket(re.compile("_stcore/stream"), connect)
    start(teacher, app_url, "which-word")
    teacher.evaluate(SHARED)
    late = True
    with teacher.expect_download() as saved:
        teacher.get_by_role("button", name="Look here").click()
        teacher.wait_for_timeout(2500)
        teacher.get_by_role("button", name="Results as CSV").click()
        teacher.wait_for_timeout(1000)
        late = False
        for socket, message in held:
            socket.send(message)
    assert saved.value.suggested_filename == "class-results.csv"
    assert saved.value.path().read_text("utf-8").startswith('"step","sentence","question"')


def test_the_page_outlasts_a_message_that_streamlit_drops(app_url: str, pages: list[Page]) -> None:
    teacher = pages[0]
    messages = DroppedFragments(teacher)
    start(teacher, app_url, "which-word")
    names = [text for text in teacher.get_by_role("button").all_inner_texts() if text]
    messages.dropping = True
    teacher.get_by_role("button", name="Lock answers").click()
    expect(teacher.get_by_role("button", name="Open answers")).to_be_visible()
    teacher.get_by_role("button", name="Open answers").click()
    expect(teacher.get_by_role("button", name="Lock answers")).to_be_visible()
    teacher.wait_for_timeout(2500)  # each fragment runs once a second
    assert messages.dropped
    assert [text for text in teacher.get_by_role("button").all_inner_texts() if text] == names


def start(teacher: Page, app_url: str, step: str, lesson: str = LESSON.name) -> str:
    """Starts a class at that step; returns its code."""
    teacher.goto(f"{app_url}/lessons?lesson={lesson}&step={step}")
    wait_until_idle(teacher)
    teacher.get_by_role("button", name="Start a class").click()
    code = teacher.locator(".class-code").inner_text().replace(" ", "")
    wait_until_idle(teacher)
    return code
