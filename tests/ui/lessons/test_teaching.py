"""A class on the teacher's page, without a browser: what is sent to the screen that the whole class sees."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, truth
from headlight.teaching.lessons.reading import read
from server.classroom.classes import Classes, Quota, store
from tests.ui.pages import page_at
from tests.unpacked import unpacked
from ui.lessons import secret_keeper, shelf, teaching
from ui.state import models

ROOT = Path(__file__).resolve().parents[3]
LESSON = read(ROOT / "lessons" / "en" / "it.md")
STEP = LESSON.steps[2]


@pytest.fixture(autouse=True)
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Classes]:
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path))
    for name in ("HEADLIGHT_REDIS", "HEADLIGHT_JOIN_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    store.cache_clear()
    yield Classes(store())
    store.cache_clear()


def screen(app: AppTest, name: str = "headlight_class") -> dict[str, Any]:
    assert not app.exception and not app.error
    (message,) = [
        component.proto.bytes for component in app.get("bidi_component") if component.proto.component_name == name
    ]
    return unpacked(message)[0]


def started() -> AppTest:
    app = page_at("lessons", lesson=LESSON.name, step=STEP.name).run()
    next(button for button in app.button if button.label == "Start a class").click().run()
    return app


def class_of(app: AppTest) -> tuple[str, str]:
    assert "teacher" not in app.query_params  # a projector shows the address
    ((code, secret),) = app.session_state["class-secrets"].items()
    return code, secret


def test_a_class_is_started_taught_and_ended(classes: Classes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_JOIN_ADDRESS", "http://192.168.1.5:8502")
    app = started()
    code, secret = class_of(app)
    answer = truth(STEP, LessonComputer(models.translator, models.model_folder, base(STEP)))
    pupil = classes.join(code)
    classes.answer(code, pupil, STEP.name, 1, [100.0, *[0.0] * (len(answer["answer"]) - 1)])
    app.run()
    content = screen(app)
    assert (
        content["code"] == f"{code[:4]} {code[4:]}"
        and code in content["link"]
        and content["qr"].startswith("data:image/svg")
    )
    assert (content["joined"], content["answered"], content["open"], content["truth"]) == (1, 1, True, None)
    assert content["link"] == f"http://192.168.1.5:8502/join?code={code}" and content["unreachable"] == ""
    assert content["text"].startswith("The same head, and the other sentence")
    assert content["sentence"] == STEP.query["text"] == classes.snapshot(code).question.sentence  # type: ignore[union-attr]
    assert classes.snapshot(code).question.text == content["text"]  # type: ignore[union-attr]
    assert secret not in json.dumps(content) and json.dumps(answer["answer"]) not in json.dumps(content)
    classes.reveal(code, secret, STEP.name, answer)
    revealed = screen(app.run())
    assert revealed["truth"]["answer"] == answer["answer"] and revealed["tallies"][0]["counts"][0] == 1
    assert revealed["judged"]["right"] == [0.0] and revealed["judged"]["count"] == 0
    assert revealed["judged"]["mean"]["overlap"] < 100
    next(button for button in app.button if button.label == "End it now").click().run()
    assert "code" not in app.query_params and classes.store.versions([code]) == {}
    assert any(button.label == "Start a class" for button in app.button)


def test_where_phones_can_not_come_the_page_says_the_command_and_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    app = started()
    content = screen(app)
    assert (content["join"], content["link"], content["qr"]) == ("", "", "")
    assert "Run `make class` in a terminal" in content["unreachable"] and "`make serve`" in content["unreachable"]
    monkeypatch.setattr("headlight.folders.CLONE", False)
    assert "Run `headlight class` in a terminal" in screen(app.run())["unreachable"]
    real = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: "0.0.0.0" if name == "server.address" else real(name))
    assert "Open this page by the address of this machine" in screen(app.run())["unreachable"]


def test_the_private_view_has_the_split_and_the_cue(classes: Classes) -> None:
    app = started()
    code, secret = class_of(app)
    answer = truth(STEP, LessonComputer(models.translator, models.model_folder, base(STEP)))["answer"]
    first = [100.0, *[0.0] * (len(answer) - 1)]
    for guess in (answer, first):
        classes.answer(code, classes.join(code), STEP.name, 1, guess)
    private = opened_with(code, secret, step=LESSON.steps[0].name, private="1")
    assert "teacher" not in private.query_params and private.query_params["private"] == "1"
    content = screen(private, "headlight_class_split")
    assert content["number"] == 3  # it follows the class, not its own address
    assert (content["split"]["share"], content["split"]["cue"], content["revealed"]) == (0.5, "talk", False)
    counted = {bar["label"]: (bar["count"], bar["right"]) for bar in content["split"]["bars"]}
    assert counted == {"The": (1, False), "tired": (1, True)}
    projected = screen(app.run())
    assert projected["answered"] == 2 and projected["tallies"] == [] and projected["judged"] is None


def test_the_table_of_results_does_not_say_what_most_answered_before_the_reveal(classes: Classes) -> None:
    app = started()
    code, secret = class_of(app)
    classes.open(code, secret, teaching._question(LESSON, LESSON.steps[1]))
    for _ in range(2):
        classes.answer(code, classes.join(code), LESSON.steps[1].name, 1, 0)
    before = teaching._line(classes.results(code, secret)[1])
    assert (before["Answered"], before["Right"], before["Most said"]) == ("2", "", "")
    teaching._picked(LESSON, LESSON.steps[1], code, secret, {"act": "reveal"})
    assert teaching._line(classes.results(code, secret)[1])["Most said"] == "The"


def test_misconceptions_of_the_class_are_counted_after_the_reveal(classes: Classes) -> None:
    app = started()
    code, secret = class_of(app)
    step = next(step for step in LESSON.steps if any(option.betrays for option in step.options))
    right = teaching.shelf.posed_step(LESSON, step).truth
    wrong = next(i for i, known in enumerate(right["betrays"]) if known)
    belief = right["betrays"][wrong]["belief"]
    classes.open(code, secret, teaching._question(LESSON, step))
    for guess in (wrong, wrong, right["answer"]):
        classes.answer(code, classes.join(code), step.name, 1, guess)
    assert teaching._misconceptions(classes.results(code, secret)) == []
    private = screen(opened_with(code, secret, private="1"), "headlight_class_split")
    assert [(one["belief"], one["count"]) for one in private["split"]["misconceptions"]] == [(belief, 2)]
    teaching._picked(LESSON, step, code, secret, {"act": "reveal"})
    (line,) = teaching._misconceptions(classes.results(code, secret))
    assert list(line.values()) == [teaching.literal(belief), "2"]
    app.query_params["step"] = step.name
    assert [one["count"] for one in screen(app.run())["judged"]["misconceptions"]] == [2]


def opened_with(code: str, secret: str, **more: str) -> AppTest:
    """The page in another browser, which brought a secret by a link."""
    app = page_at("lessons", **{"lesson": LESSON.name, "step": STEP.name, "code": code, **more})
    app.session_state["class-secrets"] = {code: secret}
    return app.run()


def test_the_link_opens_the_class_again_and_another_s_does_not(classes: Classes) -> None:
    code, secret = class_of(started())
    assert screen(opened_with(code, secret))["open"]
    refused = opened_with(code, "another-secret")
    assert not refused.exception and refused.session_state["class-secrets"] == {}
    nowhere = opened_with(f"{(int(code) + 1) % 10**8:08d}", "another-secret")
    assert [one.value for one in refused.info] == [element.value for element in nowhere.info] == [teaching.NOT_TAUGHT]


@pytest.mark.parametrize("held", [True, False])
def test_a_link_with_a_false_secret_displaces_none(
    classes: Classes, monkeypatch: pytest.MonkeyPatch, held: bool
) -> None:
    code, secret = class_of(started())
    secrets = {code: secret} if held else {}
    monkeypatch.setattr(
        st, "session_state", {"class-secrets": secrets, "secret-keeper": {"found": {"link": "false", "kept": secret}}}
    )
    secret_keeper._take_secret(code, partial(teaching._is_teacher, code))
    assert secrets == {code: secret}
    for brought in (
        {"link": "x" * 81, "kept": None}, {"link": ["a"], "kept": 1}, {"link": "false", "kept": ""}, "false",
    ):  # fmt: skip
        st.session_state["secret-keeper"] = {"found": brought}
        secret_keeper._take_secret(code, partial(teaching._is_teacher, code))
    assert secrets == {code: secret}


@pytest.mark.parametrize("method", ["counts", "tallies"])
def test_the_screen_asks_a_store_again_that_does_not_answer(
    classes: Classes, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    app = started()
    code, secret = class_of(app)
    classes.reveal(code, secret, STEP.name, teaching.shelf.posed_step(LESSON, STEP).truth)
    fragment, polled = st.fragment, []

    def recorded(function: Any, run_every: Any = None) -> Any:
        polled.append((function.__name__, run_every))
        return fragment(function, run_every=run_every)

    monkeypatch.setattr(st, "fragment", recorded)
    with monkeypatch.context() as away:
        away.setattr(Classes, method, Mock(side_effect=sqlite3.OperationalError("database is locked")))
        app.run()
    assert not app.exception and [element.value[:36] for element in app.info] == [
        "The store of classes does not answer"
    ]
    assert ("_screen", teaching.REFRESH_SECONDS) in polled and app.session_state["class-secrets"] == {code: secret}


def test_the_address_alone_does_not_teach() -> None:
    """This browser did not start the class, and is asked for the secret first."""
    app = started()
    code, _ = class_of(app)
    again = page_at("lessons", lesson=LESSON.name, step=STEP.name, code=code).run()
    assert "teacher’s link" in again.info[0].value
    assert "headlight_secret_keeper" in [element.proto.component_name for element in again.get("bidi_component")]


def test_what_is_refused_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.classroom.classes.MAX_CLASSES", 0)
    app = started()
    assert "code" not in app.query_params and "holds 0 classes already" in app.warning[0].value


def test_each_kind_of_pick_does_what_it_says(classes: Classes) -> None:
    app = started()
    code, secret = class_of(app)
    acts = {
        "lock": lambda: classes.snapshot(code).state.locked,
        "unlock": lambda: not classes.snapshot(code).state.locked,
        "reveal": lambda: classes.snapshot(code).truth is not None,
        "again": lambda: classes.snapshot(code).state.round == 2 and classes.snapshot(code).truth is None,
    }
    for act, done in acts.items():
        teaching._picked(LESSON, STEP, code, secret, {"act": act})
        assert done(), act
    teaching._picked(LESSON, STEP, code, "wrong", {"act": "lock"})
    assert not classes.snapshot(code).state.locked


def test_a_class_is_made_only_where_its_question_can_be_posed(
    classes: Classes, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_classes: list[str] = []
    monkeypatch.setattr(Classes, "start", lambda self, title: started_classes.append(title) or ("12345678", "secret"))

    def fails(*_: object) -> None:
        raise ValueError("There is no model of that name.")

    with monkeypatch.context() as missing:
        missing.setattr(teaching.shelf, "posed_step", fails)
        app = started()
    assert "no model" in app.warning[0].value
    monkeypatch.setattr("server.classroom.classes.MAX_QUESTION_CHARACTERS", 10)
    assert "too large" in started().warning[0].value
    assert started_classes == []


def test_a_visitor_of_a_public_server_has_two_classes(classes: Classes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "_QUOTA", Quota())
    monkeypatch.setattr(teaching, "public", lambda: True)
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda _: "2001:db8::1"))
    classes_of_visitor = [class_of(started()) for _ in range(2)]
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda _: "2001:db8::2"))
    refused = started()
    assert "code" not in refused.query_params and "2 classes from your network" in refused.warning[0].value
    classes.end(*classes_of_visitor[0])
    assert "code" in started().query_params
    monkeypatch.setattr(type(st.context), "ip_address", property(lambda _: "192.0.2.1"))
    assert "code" in started().query_params
    monkeypatch.setattr(teaching, "public", lambda: False)
    assert all("code" in started().query_params for _ in range(3))


def test_the_class_is_asked_about_a_sentence_that_the_teacher_types(classes: Classes) -> None:
    app = started()
    code, secret = class_of(app)
    app.query_params["step"] = "your-sentence"
    app.run()
    assert screen(app)["open"] is False and len(screen(app)["steps"]) == len(LESSON.steps) + 1
    asked = []
    for typed in ("The old dog sleeps.", "We like <b>green</b> tea."):
        app.text_area[0].set_value(typed).run()
        lesson = shelf.with_sentence(LESSON, typed)
        classes.open(code, secret, teaching._question(lesson, lesson.steps[-1]))
        app.run()
        shown = screen(app)
        assert shown["open"] and shown["sentence"] == typed and shown["truth"] is None
        asked.append(classes.snapshot(code).state.step)
    assert len(set(asked)) == 2  # each sentence is a question of its own
    app.text_area[0].set_value("12 !").run()
    assert any("at least one word" in warning.value for warning in app.warning) and screen(app)["open"] is False


def test_how_sure_those_were_who_said_so_is_counted_after_the_reveal(classes: Classes) -> None:
    posed, right = {"ask": "choice", "choices": ["a", "b"]}, {"answer": 0, "explanation": ""}
    rounds = [{"guesses": [0, 0, 1, 1, 1], "sure": [1, None, 3, 3, 2]}]
    counted = teaching.class_result(posed, right, rounds)["sure"]
    assert counted == {"said": 4, "wrong": 2, "right": 1}
