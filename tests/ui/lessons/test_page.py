"""The Lessons page without a browser: what is sent to one, before a guess and after it."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, truth
from headlight.teaching.lessons.reading import read
from tests.ui.pages import open_page
from tests.unpacked import unpacked
from ui.lessons import shelf
from ui.lessons import step as step_part
from ui.lessons.view import LessonsView
from ui.state import models

ROOT = Path(__file__).resolve().parents[3]
LESSON_STEP = ("it", "draw-its-row")

opened = partial(open_page, "lessons")


def sent(app: AppTest) -> list[bytes]:
    assert not app.exception and not app.error
    return [
        component.proto.bytes
        for component in app.get("bidi_component")
        if component.proto.component_name != "copy_link"
    ]


def header(app: AppTest) -> dict[str, Any]:
    (message,) = sent(app)
    return unpacked(message)[0]


def the_truth() -> dict[str, Any]:
    lesson = read(ROOT / "lessons" / "en" / "it.md")
    step = lesson.steps[lesson.step(LESSON_STEP[1])]
    return truth(step, LessonComputer(models.translator, models.model_folder, base(step)))


def test_the_list_has_every_lesson_and_no_answer() -> None:
    app = opened()
    lessons = header(app)["lessons"]
    assert [lesson["number"] for lesson in lessons] == list(range(1, 12))
    assert all(lesson["steps"] for lesson in lessons)


def test_the_answer_is_sent_after_the_guess_and_not_before() -> None:
    answer = the_truth()
    shares, text = (json.dumps(answer[name]).encode() for name in ("answer", "explanation"))
    app = opened(lesson="it", step=LESSON_STEP[1])
    before = header(app)
    cell = before["posed"]["picture"]["asked"]
    assert before["told"] is None and set(before["posed"]["picture"]["weights"][cell]) == {None}
    assert not any(shares in message or text in message for message in sent(app))
    app.session_state[step_part.REVEALED_KEY] = {LESSON_STEP: None}  # shown without a guess, of which nothing is judged
    app.run()
    revealed = header(app)["told"]
    assert revealed["guess"] is None and revealed["judged"] is None and revealed["truth"] == answer
    count = len(answer["answer"])
    app.session_state[step_part.REVEALED_KEY] = {LESSON_STEP: [100.0 / count] * count}
    app.run()
    (message,) = sent(app)
    assert shares in message and text in message
    judged = header(app)["told"]["judged"]
    assert judged["overlap"] == judged["evenly"]  # it was shared out evenly


@pytest.mark.parametrize("guess", [[1], "tired", None, [float("nan")] * 15, {"a": 1}])
def test_a_guess_that_answers_nothing_reveals_nothing(guess: object, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {}
    monkeypatch.setattr(step_part.st, "session_state", state)
    lesson = read(ROOT / "lessons" / "en" / "it.md")
    step_part._picked(lesson, lesson.steps[lesson.step(LESSON_STEP[1])], None, False, {"guess": guess})
    assert state[step_part.REVEALED_KEY] == {} and state[step_part.REFUSAL_KEY]


def test_a_step_alone_leads_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[object] = []
    monkeypatch.setattr(step_part.st, "session_state", {})
    monkeypatch.setattr(step_part, "update", lambda **change: changes.append(change))
    lesson = read(ROOT / "lessons" / "en" / "it.md")
    for pick in ({"step": lesson.steps[1].name}, {"following": True}, {"list": True}):
        step_part._picked(lesson, lesson.steps[0], lesson, True, pick)
        assert changes == []
    step_part._picked(lesson, lesson.steps[0], lesson, False, {"step": lesson.steps[1].name})
    step_part._picked(lesson, lesson.steps[0], lesson, False, {"following": True})
    assert changes == [{"step": lesson.steps[1].name}, {"lesson": "it", "step": None, "own": ""}]
    app = opened(lesson="it", only="1")
    assert not app.sidebar.children and not app.button and header(app)["only"] is True


def test_a_file_that_cannot_be_read_is_named_beside_the_lessons_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(ROOT / "lessons" / "en" / "it.md", tmp_path)
    (tmp_path / "mine.md").write_text("---\ntitle: Mine\n---\n\n## A step\nask: guess\n", "utf-8")
    monkeypatch.setattr(models, "LESSONS", tmp_path)
    app = opened()
    assert [lesson["name"] for lesson in header(app)["lessons"]] == ["it"]
    (warning,) = app.warning
    assert re.search(r"mine\.md, line \d+: ", warning.value)


def test_a_link_to_a_lesson_that_is_not_here_shows_those_that_are() -> None:
    app = opened(lesson="nowhere")
    assert "no lesson of that name" in app.info[0].value and len(header(app)["lessons"]) == 11


def test_a_lesson_is_offered_on_paper_for_the_class_and_with_the_answers() -> None:
    app = opened(lesson="it")
    assert [button.proto.label for button in app.get("download_button")] == ["For the class", "With the answers"]


def test_the_link_to_ones_own_sentence_is_the_same_view() -> None:
    lesson = read(ROOT / "lessons" / "en" / "it.md")
    address = step_part.own_address(lesson.steps[1])
    assert address.startswith("attention?model=english-french&kind=encoder&layer=2&head=2&text=The+animal")


def test_an_address_has_the_lesson_and_the_step_and_nothing_of_other_pages() -> None:
    view = LessonsView(model="de-en", text="Ein Hund.", kind="encoder", lesson="it", step="draw-its-row", only=True)
    assert view.to_query() == {"lesson": "it", "step": "draw-its-row", "only": "1"}
    assert LessonsView.from_query(view.to_query()) == LessonsView(lesson="it", step="draw-its-row", only=True)
    assert LessonsView.from_query(view.shared_query()) == view  # what the other pages show is not forgotten


def test_progress_is_taken_from_a_link_once() -> None:
    view = LessonsView.from_query({"done": "it:9-s---"})
    assert view.done == "it:9-s---" and view.to_query() == {} and view.shared_query() == {"done": "it:9-s---"}


@pytest.mark.parametrize("query", [{"step": "next", "only": "1"}, {"lesson": "../x", "only": "1"}, {"lesson": ""}])
def test_a_step_without_a_lesson_is_the_list(query: dict[str, str]) -> None:
    assert LessonsView.from_query(query) == LessonsView()


def test_the_last_step_asks_about_a_sentence_that_was_typed() -> None:
    app = opened(lesson="cross", step="your-sentence")
    before = header(app)
    assert (
        before["posed"] is None and before["typed"]["sentence"] == "" and before["steps"][-1]["name"] == "your-sentence"
    )
    app = opened(lesson="cross", step="your-sentence", own="The old dog <b>sleeps</b>.")
    shown = header(app)
    assert shown["sentence"] == "The old dog <b>sleeps</b>." and shown["posed"]["ask"] == "word"
    assert shown["told"] is None
    guesses = {("cross", "your-sentence The old dog <b>sleeps</b>."): 0, ("cross", "your-sentence Another."): 99}
    app.session_state[step_part.REVEALED_KEY] = guesses
    app.run()
    told = header(app)["told"]
    assert told["truth"]["answer"] < len(shown["posed"]["labels"]) and told["judged"]["sentence"]


@pytest.mark.parametrize("own", ["", "12", "a" * 5000, "\x00"])
def test_an_address_with_no_sentence_asks_for_one(own: str) -> None:
    assert LessonsView.from_query({"lesson": "cross", "own": own}).own == ""
    assert LessonsView.from_query({"own": "A dog."}).own == ""


def test_what_was_typed_is_refused_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[object] = []
    state: dict[str, Any] = {}
    monkeypatch.setattr(step_part.st, "session_state", state)
    monkeypatch.setattr(step_part, "update", lambda **change: changes.append(change))
    lesson = shelf.with_sentence(read(ROOT / "lessons" / "en" / "cross.md"), "")
    for typed in ("?", 5, ["A dog."], {"a": 1}, "a" * 10_000):
        step_part._picked(lesson, lesson.steps[-1], None, False, {"sentence": typed})
        sentence, refused = state.pop(step_part.TYPED_KEY)
        assert len(sentence) <= 300 and refused.startswith("Type ") and changes == []
    step_part._picked(lesson, lesson.steps[0], None, False, {"sentence": "A dog."})
    assert changes == []  # another step takes none
    step_part._picked(lesson, lesson.steps[-1], None, False, {"sentence": " A  dog. "})
    step_part._picked(lesson, lesson.steps[-1], None, False, {"sentence": None})
    assert changes == [{"own": "A dog."}, {"own": ""}]


def test_a_question_that_is_asked_again_is_open_again(monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[object] = []
    state: dict[str, Any] = {step_part.REVEALED_KEY: {("it", "a"): 1, ("it", "b"): 2}}
    monkeypatch.setattr(step_part.st, "session_state", state)
    monkeypatch.setattr(step_part, "update", lambda **change: changes.append(change))
    lesson = read(ROOT / "lessons" / "en" / "cross.md")
    step_part._picked(lesson, lesson.steps[0], None, False, {"lesson": "it", "step": "a", "again": True})
    step_part._picked(lesson, lesson.steps[0], None, True, {"lesson": "it", "step": "b", "again": True})  # a step alone
    assert state[step_part.REVEALED_KEY] == {("it", "b"): 2}
    assert changes == [{"lesson": "it", "step": "a", "own": ""}]
