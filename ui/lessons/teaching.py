"""The teacher's side of a class: it starts one, asks the steps of a lesson, and shows what came back.

The class's secret is in the session and in the teacher's browser, and in no address. What may be done is decided in
classroom/classes.py; what was refused there is said here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit

import segno
import streamlit as st

from classroom import codes
from classroom.classes import Asked, Classes, Question, Refused, rows
from classroom.store import AWAY, Full, Gone, store
from classroom.tally import in_words
from transformer.lessons import Lesson, Step, judge
from ui.lessons import secret_keeper, shelf
from ui.lessons.components import class_room
from ui.lessons.view import LessonsView
from ui.state import class_secrets
from ui.state.view import update
from ui.widgets.copy_link import copy_link
from ui.widgets.spreadsheet import csv_text
from ui.widgets.text import literal

REFUSED = "class-refused"  # in the session: why the last act was not done
ACTED = "class-acted"  # something was done in the fragment
EVERY = timedelta(seconds=1)  # between two counts


def start_class(lesson: Lesson, step: Step) -> None:
    """A button's callback: a new class, in which this step is open."""
    with _said():
        classes = Classes(store())
        code, secret = classes.start(lesson.title)
        classes.open(code, secret, _question(lesson, step))
        class_secrets.hold(code, secret)
        update(code=code, teacher=None)


def section(lesson: Lesson, step: Step, view: LessonsView) -> None:
    """The class at one step of the lesson. Raises ValueError where the step's model can't answer."""
    refusal()
    code = view.code or ""
    if view.teacher:
        class_secrets.hold(code, view.teacher)
    secret = class_secrets.held(code)
    if not secret:
        secret_keeper.keep(code)
        st.info("Open this class by its teacher’s link, or in the browser that started it.", icon=":material/info:")
        st.button("Leave the class", on_click=leave)
        return
    try:
        classes = Classes(store())
        classes.counts(code, secret)
    except (Gone, Refused, *AWAY) as error:
        if not isinstance(error, AWAY):
            class_secrets.drop(code)
            secret_keeper.keep(code, wrong=True)
        st.info(f"{_sentence(error)} What was not downloaded is gone.", icon=":material/info:")
        st.button("Leave the class", on_click=leave)
        return
    secret_keeper.keep(code)
    if urlsplit(join_address()).hostname in ("localhost", "127.0.0.1", "::1"):
        st.caption(":material/info: Phones can’t reach this address: open the app by the name of this machine.")
    st.fragment(_screen, run_every=EVERY)(classes, lesson, step, code, secret)
    _results(classes, code, secret)


def refusal() -> None:
    """Says why what was asked for last was not done."""
    if refused := st.session_state.pop(REFUSED, None):
        st.warning(refused, icon=":material/error:")


def leave() -> None:
    """A button's callback: the lesson goes on without the class, which goes on by itself until it ends."""
    update(code=None, teacher=None)


def _screen(classes: Classes, lesson: Lesson, step: Step, code: str, secret: str) -> None:
    if st.session_state.pop(ACTED, False):
        st.rerun()  # the whole page: the step, the results and what was refused stand around this
    try:
        shown, joined = classes.counts(code, secret)
    except (Gone, Refused, *AWAY) as error:
        st.info(_sentence(error), icon=":material/info:")
        return
    state, link = shown.state, f"{join_address()}?code={code}"
    question = shown.question if state.step == step.name else None
    rounds = classes.tallies(code, step.name) if question and shown.truth else []
    truth = shown.truth if question else None
    header = {
        "code": codes.spelt(code),
        "join": join_address().partition("://")[2],
        "link": link,
        "qr": _qr(link),
        "joined": joined,
        "answered": len(shown.answers),
        "steps": [{"name": one.name, "title": one.title} for one in lesson.steps],
        "at": lesson.steps.index(step),
        "open": question is not None,
        "question": question.question if question else step.question,
        "posed": question.posed if question else None,
        "round": state.round if question else 1,
        "locked": state.locked,
        "looking": state.looking,
        "truth": truth,
        "tallies": rounds,
        "judged": _together(question, truth, rounds) if question and truth else None,
    }
    class_room(header, key="class", on_pick=partial(_picked, lesson, step, code, secret))


@lru_cache(maxsize=100)
def _qr(link: str) -> str:
    """The link as an image, in an address of its own; every screen is drawn again each second."""
    return str(segno.make(link, error="m").svg_data_uri(scale=4, border=2))


def _picked(lesson: Lesson, step: Step, code: str, secret: str, pick: Mapping[str, Any]) -> None:
    classes = Classes(store())
    st.session_state[ACTED] = True
    with _said():
        match pick:
            case {"act": "open"}:
                classes.open(code, secret, _question(lesson, step))
            case {"act": "lock" | "unlock" as act}:
                classes.lock(code, secret, act == "lock")
            case {"act": "reveal"}:
                classes.reveal(code, secret, step.name, shelf.asked(lesson, step).truth)
            case {"act": "again"}:
                classes.again(code, secret, step.name)
            case {"act": "release"}:
                classes.release(code, secret)
            case {"step": name} if name in [one.name for one in lesson.steps]:
                other = lesson.steps[lesson.step(name)]
                classes.open(code, secret, _question(lesson, other))
                update(step=name)


def _question(lesson: Lesson, step: Step) -> Question:
    asked = shelf.asked(lesson, step)
    at = lesson.steps.index(step) + 1
    return Question(step.name, step.title, asked.posed["question"], asked.posed, number=at, of=len(lesson.steps))


def _together(question: Question, truth: Mapping[str, Any], rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """How the class did: who was right in each round, and what the mean of its rows has in common with the head's."""
    posed = dict(question.posed)
    said: dict[str, Any] = {"right": [_share_right(posed, truth, one["guesses"]) for one in rounds]}
    if posed["ask"] == "row" and "mean" in rounds[-1]:
        said["mean"] = judge(posed, dict(truth), rounds[-1]["mean"])
    return said


def _share_right(posed: dict[str, Any], truth: Mapping[str, Any], guesses: list[Any]) -> float | None:
    rights = [bool(judge(posed, dict(truth), guess)["right"]) for guess in guesses]
    return sum(rights) / len(rights) if rights else None


def _results(classes: Classes, code: str, secret: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Results as CSV",
            data=lambda: csv_text(rows(Classes(store()).results(code, secret))),
            file_name="class-results.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        with st.popover("Results", icon=":material/table_rows:"):
            st.table([_line(asked) for asked in classes.results(code, secret)], border="horizontal")
            st.caption("Only answers are kept: no name, no device, no address.")
        with st.popover("Teach elsewhere", icon=":material/key:"):
            st.write("Whoever has this link teaches the class. It is not in the address bar.")
            copy_link("Copy the teacher’s link", "copy-teacher", teacher=secret)
        with st.popover("End the class"):
            st.write("Everything of it is deleted, on all screens too. Download the results before.")
            st.button("End it now", type="primary", on_click=_end, args=(code, secret))


def _line(asked: Asked) -> dict[str, str]:
    posed, last = dict(asked.question.posed), asked.rounds[-1]
    shares = [_share_right(posed, asked.truth, one.guesses) for one in asked.rounds] if asked.truth else []
    words = [in_words(posed, guess) for guess in last.guesses]
    most = max(set(words), key=words.count) if words and posed["ask"] in ("word", "choice", "head") else ""
    return {
        "Step": literal(asked.question.title),
        "Answered": ", then ".join(str(len(one.guesses)) for one in asked.rounds),
        "Right": ", then ".join("none answered" if share is None else f"{share:.0%}" for share in shares),
        "Most said": literal(most),
    }


def _end(code: str, secret: str) -> None:
    with _said():
        Classes(store()).end(code, secret)
        leave()


def join_address() -> str:
    """Where pupils of this server join, as this browser calls it."""
    address, _, _ = (st.context.url or "http://localhost/").partition("?")
    base = address.rstrip("/").removesuffix("/lessons")
    return f"{base}/join"


class _said:
    """What is refused inside is said when the page is drawn."""

    def __enter__(self) -> None:
        st.session_state.pop(REFUSED, None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if not isinstance(error, (Refused, Full, Gone, ValueError, *AWAY)):
            return False
        st.session_state[REFUSED] = _sentence(error)
        return True


def _sentence(error: BaseException) -> str:
    if isinstance(error, AWAY):
        return f"The store of classes does not answer ({type(error).__name__}): is it running?"
    return str(error.args[0] if error.args else "There is no such class.")
