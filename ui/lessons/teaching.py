"""The teacher's side of a class: starting one, asking the steps of a lesson, and showing the answers.

The class's secret stays in the session and in the teacher's browser; no URL that is sent to a server contains it.
server/classroom/classes.py decides what is allowed, and this file shows its refusals.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from headlight.formatting import csv_text, percent
from headlight.language import gettext, translatable
from headlight.teaching.lessons.reading import YOUR_SENTENCE, Lesson, Step
from headlight.teaching.lessons.transfer import MAX_SENTENCE_CHARACTERS, sentence_of
from server.classroom import codes
from server.classroom.classes import (
    Classes,
    ClassQuestion,
    ClassRefusal,
    OpenedStep,
    Quota,
    require_small,
    rows,
    store,
)
from server.classroom.codes import network_of
from server.classroom.store import UNAVAILABLE, ClassNotFound
from server.classroom.tally import class_result, in_words, misconceptions, share_right, split
from ui.lessons import secret_keeper, shelf
from ui.lessons.components import class_room, class_split
from ui.lessons.joining import how_to_be_reached, join_address, qr_code
from ui.lessons.view import LessonsView
from ui.state.public import public
from ui.state.view import address_parameters, update
from ui.widgets import look_here
from ui.widgets.buttons import copy_link, text_download
from ui.widgets.errors import error_text
from ui.widgets.fragments import own_fragment
from ui.widgets.look_here import CLASS_ERRORS
from ui.widgets.sentence_box import sentence_box
from ui.widgets.text import literal

# Said whether or not there is a class with this code, so that nobody can find out which codes are in use.
NOT_TAUGHT = translatable(
    "There is no class of this code and this teacher’s link. If it has ended, what was not downloaded is gone."
)
REFUSAL_KEY = "class-refused"  # in the session: why the teacher's last request was refused
ACTION_KEY = "class-acted"  # in the session: the fragment changed something, so the whole page is drawn again
REFRESH_SECONDS = 1.0  # between two counts of the answers
_QUOTA = Quota()


def start_class(lesson: Lesson, step: Step) -> None:
    """Start a new class in which this step is open; a button's callback."""
    with _refusals_shown():
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
        pass  # the class's screen says so, and tries again each second
    except (ClassNotFound, ClassRefusal) as error:
        look_here.drop_secret(code)
        secret_keeper.keep(code, is_teacher, wrong=secret)
        st.info(_sentence(error) if store().set_aside_as else gettext(NOT_TAUGHT), icon=":material/info:")
        st.button(gettext("Leave the class"), on_click=leave)
        return
    secret_keeper.keep(code, is_teacher)
    if view.private:
        own_fragment(_split, lesson, code, secret, run_every=REFRESH_SECONDS)
        return
    if step.name == YOUR_SENTENCE:
        label = gettext("A sentence from the class, for all phones; then ask this step")
        sentence_box(label, view.own, "own", convert=_typed, max_chars=MAX_SENTENCE_CHARACTERS)
    own_fragment(_screen, lesson, step, code, secret, run_every=REFRESH_SECONDS)
    _below(lesson, step, code, secret)


def _is_teacher(code: str, secret: str) -> bool:
    """Return whether this is the secret of a class that has not ended."""
    try:
        Classes(store()).counts(code, secret)
    except CLASS_ERRORS:
        return False
    return True


def refusal() -> None:
    """Say why the last request of the teacher was refused."""
    if refused := st.session_state.pop(REFUSAL_KEY, None):
        st.warning(refused, icon=":material/error:")


def leave() -> None:
    """Continue the lesson without the class, which stays open for its pupils; a button's callback."""
    update(code=None, private=False)


def _screen(lesson: Lesson, step: Step, code: str, secret: str) -> None:
    if st.session_state.pop(ACTION_KEY, False):
        st.rerun()  # the whole page, since the step, the results and refusals are outside this fragment
    try:
        classes = Classes(store())
        snapshot, joined = classes.counts(code, secret)
        question = snapshot.question if snapshot.state.step == _asked_as(step) else None
        rounds = classes.tallies(code, _asked_as(step)) if question and snapshot.truth else []
    except CLASS_ERRORS as error:
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
        "qr": qr_code(link) if link else "",
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
        "judged": class_result(question.posed, truth, rounds) if question and truth else None,
    }
    class_room(header, partial(_picked, lesson, step, code, secret))


def _split(lesson: Lesson, code: str, secret: str) -> None:
    """Draw the private view of whoever has the secret; it follows the step that is open in the class."""
    if st.session_state.pop(ACTION_KEY, False):
        st.rerun()
    refusal()
    try:
        snapshot, joined = Classes(store()).counts(code, secret)
    except CLASS_ERRORS as error:
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
    class_split(header, partial(_picked, lesson, step, code, secret))


def _picked(lesson: Lesson, step: Step, code: str, secret: str, pick: object) -> None:
    classes = Classes(store())
    st.session_state[ACTION_KEY] = True
    with _refusals_shown():
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
    """Return the class's name of a step; every sentence that the teacher types makes a step of its own."""
    if step.name != YOUR_SENTENCE:
        return step.name
    return f"{step.name} {hashlib.sha256(step.query['text'].encode()).hexdigest()[:8]}"


def _without_typed(lesson: Lesson) -> tuple[Step, ...]:
    return tuple(step for step in lesson.steps if step.name != YOUR_SENTENCE)


def _typed(text: str) -> str:
    """Return the sentence that the teacher typed; show why if it is none, and return ""."""
    try:
        return sentence_of(text)
    except ValueError as error:
        st.session_state[REFUSAL_KEY] = str(error)
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


def _below(lesson: Lesson, step: Step, code: str, secret: str) -> None:
    """Draw what the teacher seldom needs, below the class's screen."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(width="content"):
            csv = partial(_csv, code, secret)
            text_download(gettext("Results as CSV"), "class-results.csv", "text/csv", csv, key="class-csv")
        own_fragment(_results, code, secret, run_every=REFRESH_SECONDS, width="content")
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
    except CLASS_ERRORS as error:
        return csv_text([[_sentence(error)]])


def _results(code: str, secret: str) -> None:
    """Draw the table of results, which is read anew each second while it is open."""
    with st.popover(
        gettext("Results"), icon=":material/table_rows:", key="class-results", on_change="rerun"
    ) as results:
        if not results.open:
            return
        try:
            opened = Classes(store()).results(code, secret)
        except CLASS_ERRORS as error:
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
    """Return a table of the class's misconceptions, counted over the last rounds of the steps that were revealed."""
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
    with _refusals_shown():
        Classes(store()).end(code, secret)
        leave()


@contextmanager
def _refusals_shown() -> Iterator[None]:
    """Catch a refusal, to be shown when the page is drawn next."""
    st.session_state.pop(REFUSAL_KEY, None)
    try:
        yield
    except (*CLASS_ERRORS, ValueError) as error:
        st.session_state[REFUSAL_KEY] = _sentence(error)


def _sentence(error: BaseException) -> str:
    if isinstance(error, UNAVAILABLE):
        text = translatable("The store of classes does not answer ({error}): is it running?")
        return gettext(text, error=type(error).__name__)
    if isinstance(error, ValueError):
        return error_text(error)
    return str(error.args[0] if error.args else gettext("There is no such class."))
