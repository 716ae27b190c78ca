"""The teacher's side of a class: starting one, asking the steps of a lesson, and showing the answers.

The class's secret is in the session and in the teacher's browser, and in no address that a server is sent.
server/classroom/classes.py decides what is allowed; this file shows its refusals.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from headlight import folders
from headlight.formatting import csv_text, percent
from headlight.language import gettext, translatable
from headlight.teaching.lessons import Lesson, Step, judge, sentence_of
from headlight.teaching.lessons.reading import YOUR_SENTENCE
from headlight.teaching.lessons.transfer import MAX_SENTENCE_CHARACTERS
from server.classroom import codes
from server.classroom.classes import SURE, Classes, ClassQuestion, ClassRefusal, OpenedStep, Quota, require_small, rows
from server.classroom.codes import network_of
from server.classroom.store import UNAVAILABLE, CapacityError, ClassNotFound, store
from server.classroom.tally import in_words, is_right, misconceptions, share_right, split
from ui.lessons import secret_keeper, shelf
from ui.lessons.components import class_room, class_split
from ui.lessons.view import LessonsView
from ui.state.cache import cached
from ui.state.language import address_parameters
from ui.state.public import public
from ui.state.view import update
from ui.widgets import look_here
from ui.widgets.copy_link import copy_link
from ui.widgets.download import download
from ui.widgets.errors import error_text
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal

# The same whether there is such a class or not: no page tells which codes there are.
NOT_TAUGHT = translatable(
    "There is no class of this code and this teacher’s link. If it has ended, what was not downloaded is gone."
)
REFUSED = "class-refused"  # in the session: why the last act was not done
ACTION_KEY = "class-acted"  # something was done in the fragment
REFRESH = timedelta(seconds=1)  # between two counts
_QUOTA = Quota()
_COMMANDS = ("headlight class", "headlight serve")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def start_class(lesson: Lesson, step: Step) -> None:
    """Start a new class in which this step is open; a button's callback."""
    with _ShowRefusal():
        question = _question(lesson, step)  # a class whose question can't be posed is not made
        require_small(question)
        classes = Classes(store())
        if public():
            code, secret = _QUOTA.start(classes, lesson.title, network_of(st.context.ip_address or "localhost"))
        else:
            code, secret = classes.start(lesson.title)
        classes.open(code, secret, question)
        look_here.hold_secret(code, secret)
        update(code=code)


def draw_teaching(lesson: Lesson, step: Step, view: LessonsView) -> None:
    """Draw the class at one step of the lesson. Raises ValueError where the step's model can't answer."""
    refusal()
    code = view.code or ""
    is_teacher = partial(_is_teacher, code)
    secret = look_here.held_secret(code)
    if not secret:
        secret_keeper.keep(code, is_teacher)
        st.info(
            gettext("Open this class by its teacher’s link, or in the browser that started it."), icon=":material/info:"
        )
        st.button(gettext("Leave the class"), on_click=leave)
        return
    try:
        Classes(store()).counts(code, secret)
    except UNAVAILABLE:
        pass  # the screen says so, and asks again each second
    except (ClassNotFound, ClassRefusal) as error:
        look_here.drop_secret(code)
        secret_keeper.keep(code, is_teacher, wrong=secret)
        st.info(_sentence(error) if store().set_aside_as else gettext(NOT_TAUGHT), icon=":material/info:")
        st.button(gettext("Leave the class"), on_click=leave)
        return
    secret_keeper.keep(code, is_teacher)
    if view.private:
        st.fragment(_split, run_every=REFRESH)(lesson, code, secret)
        return
    if step.name == YOUR_SENTENCE:
        label = gettext("A sentence from the class, for all phones; then ask this step")
        sentence_box(label, view.own, "own", convert=_typed, max_chars=MAX_SENTENCE_CHARACTERS)
    st.fragment(_screen, run_every=REFRESH)(lesson, step, code, secret)
    _below(lesson, step, code, secret)


def _is_teacher(code: str, secret: str) -> bool:
    """Return whether this is the secret of a class that goes on."""
    try:
        Classes(store()).counts(code, secret)
    except (ClassNotFound, ClassRefusal, *UNAVAILABLE):
        return False
    return True


def refusal() -> None:
    """Say why the last request of the teacher was refused."""
    if refused := st.session_state.pop(REFUSED, None):
        st.warning(refused, icon=":material/error:")


def leave() -> None:
    """Continue the lesson without the class, which goes on by itself until it ends; a button's callback."""
    update(code=None, private=False)


def _screen(lesson: Lesson, step: Step, code: str, secret: str) -> None:
    if st.session_state.pop(ACTION_KEY, False):
        st.rerun()  # the whole page: the step, the results and what was refused stand around this
    try:
        classes = Classes(store())
        snapshot, joined = classes.counts(code, secret)
        question = snapshot.question if snapshot.state.step == _asked_as(step) else None
        rounds = classes.tallies(code, _asked_as(step)) if question and snapshot.truth else []
    except (ClassNotFound, ClassRefusal, *UNAVAILABLE) as error:
        st.info(_sentence(error), icon=":material/info:")
        return
    state, join = snapshot.state, join_address()
    link = f"{join}?{urlencode({'code': code, **address_parameters()})}" if join else ""
    truth = snapshot.truth if question else None
    header = {
        "title": lesson.title,
        "code": codes.spelt(code),
        "join": join.partition("://")[2] if join else "",
        "link": link,
        "qr": _qr(link) if link else "",
        "unreachable": "" if join else how_to_be_reached(),
        "joined": joined,
        "answered": len(snapshot.answers),
        "steps": [{"name": lesson_step.name, "title": lesson_step.title} for lesson_step in lesson.steps],
        "at": lesson.steps.index(step),
        "open": question is not None,
        "text": question.text if question else "",
        "sentence": question.sentence if question else "",
        "question": question.question if question else step.question,
        "posed": question.posed if question else None,
        "round": state.round if question else 1,
        "locked": state.locked,
        "looking": state.looking,
        "truth": truth,
        "tallies": rounds,
        "judged": _class_result(question, truth, rounds) if question and truth else None,
    }
    class_room(header, key="class", on_pick=partial(_picked, lesson, step, code, secret))


def _split(lesson: Lesson, code: str, secret: str) -> None:
    """Draw the private view: it follows the step that is open in the class, for whoever holds the secret."""
    if st.session_state.pop(ACTION_KEY, False):
        st.rerun()
    refusal()
    try:
        snapshot, joined = Classes(store()).counts(code, secret)
    except (ClassNotFound, ClassRefusal, *UNAVAILABLE) as error:
        st.info(_sentence(error), icon=":material/info:")
        return
    question, state = snapshot.question, snapshot.state
    if question is not None:  # this window may not know the sentence that was typed in the other
        lesson = shelf.with_sentence(replace(lesson, steps=_without_typed(lesson)), question.sentence)
    step = next((lesson_step for lesson_step in lesson.steps if _asked_as(lesson_step) == state.step), None)
    if question is None or step is None:
        st.info(gettext("No question of this lesson is open in the class."), icon=":material/info:")
        return
    try:
        truth = snapshot.truth or shelf.posed_step(lesson, step).truth
    except ValueError as error:
        st.info(error_text(error), icon=":material/info:")
        return
    header = {
        "code": codes.spelt(code),
        "number": question.number,
        "of": question.of,
        "question": question.question,
        "ask": question.posed["ask"],
        "right": in_words(question.posed, truth["answer"]) if question.posed["ask"] not in ("row", "number") else "",
        "joined": joined,
        "answered": len(snapshot.answers),
        "round": state.round,
        "locked": state.locked,
        "revealed": snapshot.truth is not None,
        "split": split(question.posed, truth, list(snapshot.answers.values())),
    }
    class_split(header, key="class-split", on_pick=partial(_picked, lesson, step, code, secret))


@cached(100, turn=False)
def _qr(link: str) -> str:
    """Return the link as an image, in an address of its own; every screen is drawn again each second."""
    return str(segno.make(link, error="m").svg_data_uri(scale=4, border=2))


def _picked(lesson: Lesson, step: Step, code: str, secret: str, pick: Mapping[str, Any]) -> None:
    classes = Classes(store())
    st.session_state[ACTION_KEY] = True
    with _ShowRefusal():
        match pick:
            case {"act": "open"}:
                classes.open(code, secret, _question(lesson, step))
            case {"act": "lock" | "unlock" as act}:
                classes.lock(code, secret, act == "lock")
            case {"act": "reveal"}:
                classes.reveal(code, secret, _asked_as(step), shelf.posed_step(lesson, step).truth)
            case {"act": "again"}:
                classes.ask_again(code, secret, _asked_as(step))
            case {"act": "release"}:
                classes.release(code, secret)
            case {"step": name} if name in [lesson_step.name for lesson_step in lesson.steps]:
                other = lesson.steps[lesson.step(name)]
                if not shelf.is_untyped(other):
                    classes.open(code, secret, _question(lesson, other))
                update(step=name)


def _asked_as(step: Step) -> str:
    """Return what the class calls a step: of each sentence that was typed a question of its own."""
    if step.name != YOUR_SENTENCE:
        return step.name
    return f"{step.name} {hashlib.sha256(step.query['text'].encode()).hexdigest()[:8]}"


def _without_typed(lesson: Lesson) -> tuple[Step, ...]:
    return tuple(step for step in lesson.steps if step.name != YOUR_SENTENCE)


def _typed(text: str) -> str:
    """Return the sentence that the teacher typed for the class; say why where it is none."""
    try:
        return sentence_of(text)
    except ValueError as error:
        st.session_state[REFUSED] = str(error)
        return ""


def _question(lesson: Lesson, step: Step) -> ClassQuestion:
    posed_step = shelf.posed_step(lesson, step)
    at = lesson.steps.index(step) + 1
    return ClassQuestion(
        _asked_as(step),
        step.title,
        posed_step.posed["question"],
        posed_step.posed,
        text=posed_step.text,
        number=at,
        of=len(lesson.steps),
        sentence=step.query.get("text", ""),
    )


def _class_result(question: ClassQuestion, truth: Mapping[str, Any], rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Say how the class did.

    That is the share and the count of right answers in each round, the misconceptions of the last, and what its mean
    row has in common with the head's.
    """
    posed = dict(question.posed)
    message: dict[str, Any] = {
        "right": [share_right(posed, truth, round_["guesses"]) for round_ in rounds],
        "count": sum(is_right(posed, truth, guess) for guess in rounds[-1]["guesses"]),
        "misconceptions": misconceptions(posed, truth, rounds[-1]["guesses"]),
    }
    with_confidence = zip(rounds[-1]["guesses"], rounds[-1]["sure"], strict=True)
    answers = [(sure, is_right(posed, truth, guess)) for guess, sure in with_confidence]
    message["sure"] = {"said": sum(sure is not None for sure, _ in answers)} | {
        "wrong": answers.count((SURE, False)),
        "right": answers.count((1, True)),
    }
    if posed["ask"] == "row" and "mean" in rounds[-1]:
        message["mean"] = judge(posed, dict(truth), rounds[-1]["mean"])
    return message


def _below(lesson: Lesson, step: Step, code: str, secret: str) -> None:
    """Draw what the teacher needs now and then, below the class's screen."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="content"):
            download(
                gettext("Results as CSV"), "class-results.csv", "text/csv", partial(_csv, code, secret), key="class-csv"
            )
        st.fragment(_results, run_every=REFRESH)(code, secret)
        server = (join_address() or "").removesuffix("/join")
        with st.popover(gettext("See the split"), icon=":material/lock:"):
            text = translatable(
                "Before you reveal, the split of the answers is shown to you alone: in a window that the class does "
                "not see."
            )
            if server:
                text = translatable(
                    "Before you reveal, the split of the answers is shown to you alone: in a window that the class "
                    "does not see, or on your phone by this link."
                )
            st.write(gettext(text))
            if server:
                copy_link(gettext("Copy the private link"), "copy-private", server, secret=secret, private="1")
            window = {"lesson": lesson.name, "step": step.name, "code": code, "private": "1"} | address_parameters()
            st.link_button(
                gettext("Open in a second window"), f"lessons?{urlencode(window)}", icon=":material/open_in_new:"
            )
        with st.popover(gettext("Teach elsewhere"), icon=":material/key:"):
            st.write(gettext("Whoever has this link teaches the class. It is not in the address bar."))
            copy_link(gettext("Copy the teacher’s link"), "copy-teacher", server, secret=secret)
        with st.popover(gettext("End the class")):
            st.write(gettext("Everything of it is deleted, on all screens too. Download the results before."))
            st.button(gettext("End it now"), type="primary", on_click=_end, args=(code, secret))
        st.button(gettext("Leave the class"), icon=":material/chevron_left:", type="tertiary", on_click=leave)


def _csv(code: str, secret: str) -> str:
    try:
        return csv_text(rows(Classes(store()).results(code, secret)))
    except (ClassNotFound, ClassRefusal, *UNAVAILABLE) as error:
        return csv_text([[_sentence(error)]])


def _results(code: str, secret: str) -> None:
    """Draw the table of results, which is read from the store each second while it is open."""
    with st.popover(
        gettext("Results"), icon=":material/table_rows:", key="class-results", on_change="rerun"
    ) as results:
        if not results.open:
            return
        try:
            opened = Classes(store()).results(code, secret)
        except (ClassNotFound, ClassRefusal, *UNAVAILABLE) as error:
            st.info(_sentence(error), icon=":material/info:")
            return
        st.table([_line(question) for question in opened], border="horizontal")
        if betrayed := _misconceptions(opened):
            st.table(betrayed, border="horizontal")
        st.caption(gettext("Only answers are kept: no name, no device, no address."))


def _line(opened: OpenedStep) -> dict[str, str]:
    posed, last = dict(opened.question.posed), opened.rounds[-1]
    shares = [share_right(posed, opened.truth, round_.guesses) for round_ in opened.rounds] if opened.truth else []
    words = [in_words(posed, guess) for guess in last.guesses] if opened.truth else []  # the class sees this screen
    most_common = max(set(words), key=words.count) if words and posed["ask"] in ("word", "choice", "head") else ""
    return {
        gettext("Step"): literal(opened.question.title),
        gettext("Answered"): " → ".join(str(len(round_.guesses)) for round_ in opened.rounds),
        gettext("Right"): " → ".join(gettext("none answered") if share is None else percent(share) for share in shares),
        gettext("Most said"): literal(most_common),
    }


def _misconceptions(opened: list[OpenedStep]) -> list[dict[str, str]]:
    """Return the misconceptions of the whole class as a table: of the last round of each step that was revealed."""
    counts: Counter[str] = Counter()
    for step in opened:
        if step.truth:  # the class sees this screen
            for known in misconceptions(step.question.posed, step.truth, step.rounds[-1].guesses):
                counts[known["belief"]] += known["count"]
    return [
        {gettext("What wrong answers suggest"): literal(belief), gettext("Answers"): str(count)}
        for belief, count in counts.most_common()
    ]


def _end(code: str, secret: str) -> None:
    with _ShowRefusal():
        Classes(store()).end(code, secret)
        leave()


def join_address() -> str | None:
    """Return where pupils of this server join, or None where this browser's address leads phones to themselves.

    It is what this browser calls the server, unless that is a loopback name: then HEADLIGHT_JOIN_ADDRESS, which
    `headlight class` sets to the machine's address in the local network.
    """
    address, _, _ = (st.context.url or "http://localhost/").partition("?")
    base = address.rstrip("/").removesuffix("/lessons")
    if urlsplit(address).hostname in _LOOPBACK:
        base = os.environ.get("HEADLIGHT_JOIN_ADDRESS", "").rstrip("/")
    return f"{base}/join" if base else None


def how_to_be_reached() -> str:
    """Say what to do where phones can't reach the address of this page."""
    if (st.get_option("server.address") or "0.0.0.0") not in _LOOPBACK:
        return gettext(
            "Phones can’t reach this address. Open this page by the address of this machine in your network."
        )
    class_, serve = ("make class", "make serve") if folders.CLONE else _COMMANDS
    return gettext(
        "Phones can’t reach this address: it is for this machine alone. Run `{command}` in a terminal: it serves the "
        "app to your network, and prints the address and a QR code for phones. This class goes on there with its code. "
        "(For a lasting server: `{serve}`.)",
        command=class_,
        serve=serve,
    )


class _ShowRefusal:
    """Catch a refusal that is raised inside, and show it when the page is drawn next."""

    def __enter__(self) -> None:
        st.session_state.pop(REFUSED, None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if not isinstance(error, (ClassRefusal, CapacityError, ClassNotFound, ValueError, *UNAVAILABLE)):
            return False
        st.session_state[REFUSED] = _sentence(error)
        return True


def _sentence(error: BaseException) -> str:
    if isinstance(error, UNAVAILABLE):
        text = translatable("The store of classes does not answer ({error}): is it running?")
        return gettext(text, error=type(error).__name__)
    if isinstance(error, ValueError):
        return error_text(error)
    return str(error.args[0] if error.args else gettext("There is no such class."))
