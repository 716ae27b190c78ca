"""The rules of a class: who may do what, and when; and which of the two stores the settings name.

Each rule is checked inside the store's own transaction.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from headlight import folders
from headlight.language import gettext, pgettext
from headlight.teaching.lessons.judging import check_guess, judge
from server.classroom import codes
from server.classroom.shared import RedisStore
from server.classroom.sqlite import Sqlite
from server.classroom.store import IDLE_SECONDS, Act, CapacityError, ClassState, Json, Store, now
from server.classroom.tally import MAX_SURENESS, in_words, is_right, tally, without_emphasis

MAX_CLASSES_PER_VISITOR = 2
MAX_CLASS_SECONDS = 24 * 3600.0
MAX_CLASSES = 50
MAX_PUPILS = 120
MAX_STEPS, MAX_ROUNDS = 60, 20
MAX_QUESTION_CHARACTERS = 1_000_000  # of its JSON: the pictures of some hundred heads
MAX_PICTURE_BYTES = 3_000_000
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class ClassRefusal(ValueError):
    """Raised where the class does not allow this now, or not to this person."""


@dataclass(frozen=True)
class ClassQuestion:
    """A step as pupils see it: its introduction (`text`), the sentence that the model reads, and the question.

    `posed` is the question as the library describes it. It is question `number` of `of` in the lesson.
    """

    step: str
    title: str
    question: str
    posed: Mapping[str, Any]
    text: str = ""
    number: int = 1
    of: int = 1
    sentence: str = ""


@dataclass(frozen=True)
class Round:
    """The answers of a class to a question that was asked once, in an order that does not tell whose they are."""

    number: int
    guesses: list[Any] = field(repr=False)
    tally: Mapping[str, Any]
    sure: list[int | None] = field(default_factory=list, repr=False)  # 1 to MAX_SURENESS for each guess; None: not said


@dataclass(frozen=True)
class OpenedStep:
    """A step that was opened; `truth` is None before the answer was revealed."""

    question: ClassQuestion
    rounds: list[Round]
    truth: Mapping[str, Any] | None


@dataclass(frozen=True)
class ClassSnapshot:
    """The state of a class at one version: for the pupils' screens, and for counting."""

    version: int
    state: ClassState
    question: ClassQuestion | None
    truth: Mapping[str, Any] | None
    picture: str  # the title of the picture on all screens; "" without one
    answers: Mapping[str, Any] = field(repr=False)  # of the round that is open, by pupil
    sure: Mapping[str, int] = field(default_factory=dict, repr=False)  # how sure those pupils are who said so


class Classes:
    """All classes of a server. Each method that takes a code raises ClassNotFound where no class has it."""

    def __init__(self, store: Store, clock: Callable[[], float] = now):
        self.store, self.clock = store, clock

    # ---- for pupils

    def join(self, code: str) -> str:
        """Add a new pupil; return the secret that their browser keeps. Raises CapacityError."""
        pupil = codes.new_secret()
        self.store.enter(code, pupil, MAX_PUPILS)
        return pupil

    def answer(self, code: str, pupil: str, step: str, round_: int, guess: Any, sure: Any = None) -> None:
        """Store an answer in place of what the pupil said before in this round. Raises ClassRefusal or ValueError.

        `sure` is how sure the pupil is, from 1 to MAX_SURENESS, or None.
        """
        if sure is not None and (type(sure) is not int or not 1 <= sure <= MAX_SURENESS):
            raise ValueError(f"How sure one is is a whole number from 1 to {MAX_SURENESS}, or null.")

        def allowed(state: ClassState) -> None:
            if state.step != step or state.round != round_:
                raise ClassRefusal(gettext("The class has gone on to another question."))
            if state.locked or step in state.revealed:
                raise ClassRefusal(gettext("Answers are closed."))

        posed = self.store.document(code, f"question {step}")
        if posed is None:
            raise ClassRefusal(gettext("The class has gone on to another question."))
        checked = check_guess(posed["posed"], guess)
        self.store.put(code, pupil, (step, round_), {"guess": checked, "sure": sure} if sure else checked, allowed)

    def snapshot(self, code: str) -> ClassSnapshot:
        version, state = self.store.state(code)
        question = truth = None
        answers: dict[str, Any] = {}
        sure: dict[str, int] = {}
        if state.step is not None:
            question = self._question(code, state.step)
            stored = self.store.answers(code, (state.step, state.round))
            answers = {pupil: _guess(answer) for pupil, answer in stored.items()}
            sure = {pupil: how for pupil, answer in stored.items() if (how := _sure(answer))}
            if state.step in state.revealed:
                truth = self.store.document(code, f"truth {state.step}")
        picture = (self.store.document(code, "picture") or {}).get("title", "") if state.looking else ""
        return ClassSnapshot(version, state, question, truth, picture, answers, sure)

    def picture(self, code: str, pupil: str) -> bytes | None:
        """Return the picture, PNG, that the teacher shows at the moment, for a pupil of the class."""
        _, state = self.store.state(code)
        if not state.looking or pupil not in self.store.pupils(code):
            return None
        body = self.store.document(code, "picture")
        return bytes.fromhex(body["png"]) if body else None

    # ---- for the teacher

    def start(self, title: str) -> tuple[str, str]:
        """Start a class; return its code and the teacher's secret. Raises CapacityError."""
        self.store.sweep()
        secret = codes.new_secret()
        ends = self.clock() + MAX_CLASS_SECONDS
        state = ClassState(title[:200], codes.digest(secret), min(ends, now() + IDLE_SECONDS), ends)
        while not self.store.add(code := codes.new_code(), state, MAX_CLASSES):
            pass
        return code, secret

    def open(self, code: str, secret: str, question: ClassQuestion) -> None:
        """Show a question. A step that was opened before keeps its question, its rounds and its answers."""
        require_small(question)
        body = asdict(question)

        def act(state: ClassState) -> tuple[ClassState, Mapping[str, Json]]:
            was_opened = question.step in state.rounds
            if not was_opened and len(state.rounds) >= MAX_STEPS:
                raise ClassRefusal(
                    gettext("A class has at most {number} questions: start another one.", number=MAX_STEPS)
                )
            rounds = state.rounds if was_opened else {**state.rounds, question.step: 1}
            after = replace(state, step=question.step, rounds=rounds, locked=False, looking=False)
            return after, {} if was_opened else {f"question {question.step}": body}

        self._change(code, secret, act)

    def lock(self, code: str, secret: str, locked: bool = True) -> None:
        self._change(code, secret, lambda state: (replace(state, locked=locked), {}))

    def reveal(self, code: str, secret: str, step: str, truth: Mapping[str, Any]) -> None:
        """Show the right answer to the open question and close it; until then the store does not hold that answer."""

        def act(state: ClassState) -> tuple[ClassState, Mapping[str, Json]]:
            _is_open(state, step)
            revealed = tuple(dict.fromkeys((*state.revealed, step)))
            return replace(state, revealed=revealed, locked=True, looking=False), {f"truth {step}": truth}

        self._change(code, secret, act)

    def ask_again(self, code: str, secret: str, step: str) -> None:
        """Ask the open question once more, after discussion; the answers so far stay as a round of their own."""

        def act(state: ClassState) -> tuple[ClassState, Mapping[str, Json]]:
            _is_open(state, step)
            if state.round >= MAX_ROUNDS:
                raise ClassRefusal(
                    gettext("This question was asked {number} times: go on to the next.", number=MAX_ROUNDS)
                )
            rounds = {**state.rounds, step: state.round + 1}
            revealed = tuple(name for name in state.revealed if name != step)
            after = replace(state, rounds=rounds, revealed=revealed, locked=False, looking=False)
            return after, {f"truth {step}": None}

        self._change(code, secret, act)

    def look(self, code: str, secret: str, title: str, picture: bytes) -> None:
        """Show a picture (PNG) on all screens instead of the question, until `release` or the next step."""
        if not picture.startswith(PNG_SIGNATURE) or len(picture) > MAX_PICTURE_BYTES:
            raise ClassRefusal(
                gettext("The picture is too large: at most {number} MB.", number=MAX_PICTURE_BYTES // 1_000_000)
            )
        body = {"title": title[:200], "png": picture.hex()}
        self._change(code, secret, lambda state: (replace(state, looking=True, look=state.look + 1), {"picture": body}))

    def release(self, code: str, secret: str) -> None:
        self._change(code, secret, lambda state: (replace(state, looking=False), {"picture": None}))

    def end(self, code: str, secret: str) -> None:
        """End the class and delete all its data."""
        self._require_teacher(self.store.state(code)[1], secret)
        self.store.remove(code)

    def counts(self, code: str, secret: str) -> tuple[ClassSnapshot, int]:
        """Return the state of the class, and how many have joined."""
        snapshot = self.snapshot(code)
        self._require_teacher(snapshot.state, secret)
        return snapshot, len(self.store.pupils(code))

    def results(self, code: str, secret: str) -> list[OpenedStep]:
        """Return every step that was opened, in that order, with all of its rounds."""
        _, state = self.store.state(code)
        self._require_teacher(state, secret)
        return [self._opened_step(code, state, step) for step in state.rounds]

    def tallies(self, code: str, step: str) -> list[dict[str, Any]]:
        """Return the tally of each round of a step that was opened, with its guesses; for the teacher's page alone."""
        opened = self._opened_step(code, self.store.state(code)[1], step)
        return [{**round_.tally, "guesses": round_.guesses, "sure": round_.sure} for round_ in opened.rounds]

    def _opened_step(self, code: str, state: ClassState, step: str) -> OpenedStep:
        question = self._question(code, step)
        rounds = []
        for number in range(1, state.rounds[step] + 1):
            # Sorted, so that the order of answers does not link a person's answers to two questions.
            stored = self.store.answers(code, (step, number)).values()
            answers = sorted(([_guess(answer), _sure(answer)] for answer in stored), key=json.dumps)
            guesses = [guess for guess, _ in answers]
            rounds.append(Round(number, guesses, tally(question.posed, guesses), [sure for _, sure in answers]))
        truth = self.store.document(code, f"truth {step}") if step in state.revealed else None
        return OpenedStep(question, rounds, truth)

    def _question(self, code: str, step: str) -> ClassQuestion:
        body = self.store.document(code, f"question {step}")
        try:
            question = ClassQuestion(**body)
            if not isinstance(question.posed, Mapping):
                raise TypeError
        except TypeError:
            self.store.set_aside(code, f"no question for its step {step}")
            raise self.store.class_not_found(code) from None
        return question

    def _change(self, code: str, secret: str, act: Act) -> None:
        def checked(state: ClassState) -> tuple[ClassState, Mapping[str, Json]]:
            self._require_teacher(state, secret)
            return act(state)

        self.store.change(code, checked)

    def _require_teacher(self, state: ClassState, secret: str) -> None:
        if not codes.matches(secret, state.secret):
            raise ClassRefusal(gettext("This is not the teacher’s link of this class."))


def _guess(stored: Json) -> Any:
    """Return the guess of a stored answer: the answer itself, or a field beside how sure the pupil is."""
    return stored["guess"] if isinstance(stored, dict) and "guess" in stored else stored


def _sure(stored: Json) -> int | None:
    sure = stored.get("sure") if isinstance(stored, dict) else None
    return sure if type(sure) is int and 1 <= sure <= MAX_SURENESS else None


Line = list[str | float | None]


def columns() -> list[str]:
    """Return the header of the table of `rows`."""
    return [
        pgettext("column", "step"),
        pgettext("column", "sentence"),
        pgettext("column", "question"),
        pgettext("column", "round"),
        # Translators: the number of an answer
        pgettext("column", "no"),
        pgettext("column", "word"),
        pgettext("column", "answer"),
        # Translators: of a number, such as per cent
        pgettext("column", "unit"),
        pgettext("column", "right answer"),
        # Translators: whether the answer is right, 1 or 0
        pgettext("column", "right"),
        # Translators: how good the answer is, from 0 to 1
        pgettext("column", "score"),
        # Translators: how sure the pupil is, from 1 to 3
        pgettext("column", "sure"),
        pgettext("column", "misconception"),
    ]


def rows(results: list[OpenedStep]) -> list[Line]:
    """Return the results as a table, its header first: a line per answer, or per word of a drawn row.

    A numeric answer is a number, in `unit`. `right` is 1 or 0 and `score` lies from 0 to 1; they, the right answer and
    the misconception that a wrong answer betrays are None for a question that was not revealed. `sure` is how sure the
    pupil was, from 1 to 3, or None. `no` counts the answers of one round in an order that says nothing about who gave
    them.
    """
    table: list[Line] = [[*columns()]]
    for opened in results:
        question, posed, truth = opened.question, opened.question.posed, opened.truth
        asking = [question.title, question.sentence, without_emphasis(question.question)]
        for round_ in opened.rounds:
            for no, (guess, sure) in enumerate(zip(round_.guesses, round_.sure, strict=True), 1):
                verdict: Line = [None, None, sure, None]
                if truth is not None:
                    judged = judge(posed, truth, guess)
                    belief = judged["betrays"]["belief"] if "betrays" in judged else None
                    verdict = [int(is_right(posed, truth, guess)), judged["score"], sure, belief]
                cells = _answer_cells(posed, guess, truth["answer"] if truth else None)
                table += [[*asking, round_.number, no, *answer, *verdict] for answer in cells]
    return table


def _answer_cells(posed: Mapping[str, Any], guess: Any, right: Any | None) -> list[Line]:
    """Return the cells from `word` to `right answer`: one line, or for a drawn row one line per word."""
    if posed["ask"] == "row":
        rights = right or [None] * len(guess)
        return [[*cells[:2], "%", cells[2]] for cells in zip(posed["labels"], guess, rights, strict=True)]
    if posed["ask"] == "number":
        return [[None, guess, posed.get("unit") or None, right]]
    return [[None, in_words(posed, guess), None, None if right is None else in_words(posed, right)]]


def require_small(question: ClassQuestion) -> None:
    """Raise ClassRefusal for a question that is too large for pupils' phones."""
    if len(json.dumps(asdict(question))) > MAX_QUESTION_CHARACTERS:
        raise ClassRefusal(
            gettext("This question’s pictures are too large for pupils’ phones: take a shorter sentence.")
        )


def _is_open(state: ClassState, step: str) -> None:
    if state.step != step:
        raise ClassRefusal(gettext("Another question is open in this class: this page shows an older one."))


class Quota:
    """Counts the classes that each address started in this process.

    An address is held in memory alone, and only while one of its classes goes on; the store holds no addresses.
    """

    def __init__(self) -> None:
        self.codes: dict[str, set[str]] = {}  # of the classes that each address has started
        self.lock = Lock()

    def start(self, classes: Classes, title: str, address: str) -> tuple[str, str]:
        """Start a class as `Classes.start` does. Raises CapacityError where the address has too many."""
        with self.lock:
            started = [code for codes in self.codes.values() for code in codes]
            alive = classes.store.versions(started).keys() if started else set()
            self.codes = {who: codes & alive for who, codes in self.codes.items() if codes & alive}
            if len(self.codes.get(address, ())) >= MAX_CLASSES_PER_VISITOR:
                raise CapacityError(
                    gettext(
                        "There are {number} classes from your network on this public server already. End one of them "
                        "first; a class in which nobody does anything ends by itself after two hours.",
                        number=MAX_CLASSES_PER_VISITOR,
                    )
                )
            code, secret = classes.start(title)
            self.codes.setdefault(address, set()).add(code)
        return code, secret


def _file() -> Path:
    return folders.classes() / "classes.sqlite3"


def used() -> bool:
    """Return whether there may be a class: a server on which none was ever started has no file."""
    return bool(os.environ.get("HEADLIGHT_REDIS")) or _file().exists()


@cache
def store() -> Store:
    """Return the store that the settings name: the Redis server at HEADLIGHT_REDIS, or the folder HEADLIGHT_CLASSES.

    Raises ValueError for an address that Redis can't read.
    """
    address = os.environ.get("HEADLIGHT_REDIS", "")
    return RedisStore(address) if address else Sqlite(_file())
