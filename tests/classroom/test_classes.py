"""The rules of a class, on both stores: what counts, what is refused, what is kept and what is not."""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from server.classroom import classes as rules
from server.classroom import codes
from server.classroom.classes import MAX_CLASS_SECONDS, Classes, ClassQuestion, ClassRefusal, rows
from server.classroom.shared import RedisStore
from server.classroom.store import CapacityError, ClassNotFound, Store
from transformer import access

WORD = {"ask": "word", "labels": ["the", "cat", "=sat"], "query": "it"}
TRUTH = {"answer": 1, "row": [20.0, 70.0, 10.0], "explanation": "It looks at “cat”."}
FIRST = ClassQuestion("first", "Which word?", "Where does **it** look?", WORD, number=1, of=2, sentence="The cat sat.")
HOW_MUCH = {"ask": "number", "least": 0, "most": 100, "step": 1, "unit": "%"}
NUMBER = ClassQuestion("second", "How much?", "How much?", HOW_MUCH)


def begun(classes: Classes) -> tuple[str, str]:
    code, secret = classes.start("A lesson")
    classes.open(code, secret, FIRST)
    return code, secret


def test_a_class_from_its_start_to_its_end(classes: Classes) -> None:
    code, secret = begun(classes)
    ann, ben, _ = (classes.join(code) for _ in range(3))
    for pupil, guess in ((ann, 0), (ann, 1), (ben, 2)):  # the last answer counts, and counts once
        classes.answer(code, pupil, "first", 1, guess)
    snapshot, joined = classes.counts(code, secret)
    assert (joined, snapshot.answers, snapshot.truth) == (3, {ann: 1, ben: 2}, None)
    classes.ask_again(code, secret, "first")
    assert classes.snapshot(code).answers == {}
    classes.answer(code, ben, "first", 2, 1)
    classes.reveal(code, secret, "first", TRUTH)
    assert classes.snapshot(code).truth == TRUTH
    (question,) = classes.results(code, secret)
    assert [round_.tally["counts"] for round_ in question.rounds] == [[0, 1, 1], [0, 1, 0]]
    header, *lines = rows([question])
    assert [dict(zip(header, line, strict=True)) for line in lines] == [
        {
            "step": "Which word?", "sentence": "The cat sat.", "question": "Where does it look?", "word": None,
            "unit": None, "sure": None, "misconception": None,
        }
        | {"round": round_, "no": no, "answer": answer, "right answer": "cat", "right": right, "score": score}
        for round_, no, answer, right, score in [
            (1, 1, "cat", 1, 1.0),
            (1, 2, "=sat", 0, 0.1429),
            (2, 1, "cat", 1, 1.0),
        ]
    ]  # fmt: skip
    classes.end(code, secret)
    for act in (lambda: classes.snapshot(code), lambda: classes.join(code), lambda: classes.results(code, secret)):
        with pytest.raises(ClassNotFound):
            act()


def test_numbers_are_numbers_in_the_results(classes: Classes) -> None:
    code, secret = classes.start("A lesson")
    row = {"ask": "row", "labels": ["a", "'"], "query": "it"}
    for question, guess in ((NUMBER, 40), (ClassQuestion("third", "Draw", "Draw **it**.", row), [25.0, 75.0])):
        classes.open(code, secret, question)
        classes.answer(code, classes.join(code), question.step, 1, guess)
    header, *lines = rows(classes.results(code, secret))
    cells = [dict(zip(header, line, strict=True)) for line in lines]
    assert [(cell["answer"], cell["unit"], cell["word"]) for cell in cells] == [
        (40.0, "%", None),
        (25.0, "%", "a"),
        (75.0, "%", "'"),
    ]
    assert {one["right answer"] for one in cells} == {cell["right"] for cell in cells} == {None}  # nothing is revealed
    classes.reveal(code, secret, "third", {"answer": [10.0, 90.0], "row": [10.0, 90.0]})
    table = [dict(zip(header, line, strict=True)) for line in rows(classes.results(code, secret))[1:]]
    assert [(row["right answer"], row["right"], row["score"]) for row in table[1:]] == [
        (10.0, 1, 0.85),
        (90.0, 1, 0.85),
    ]


def test_the_misconception_of_a_wrong_answer_is_in_the_results_after_the_reveal(classes: Classes) -> None:
    code, secret = classes.start("A lesson")
    posed = {"ask": "choice", "choices": ["It stays", "It falls"]}
    classes.open(code, secret, ClassQuestion("first", "What happens?", "What happens?", posed))
    for guess in (0, 1):
        classes.answer(code, classes.join(code), "first", 1, guess)
    beliefs = lambda: [line[-1] for line in rows(classes.results(code, secret))]  # noqa: E731
    assert beliefs() == ["misconception", None, None]
    known = {"name": "bright-is-important", "belief": "Bright means important.", "correction": "Switch it off."}
    classes.reveal(code, secret, "first", {"answer": 1, "betrays": [known, None]})
    assert beliefs() == ["misconception", "Bright means important.", None]


def test_the_truth_is_in_the_store_only_after_the_reveal(classes: Classes) -> None:
    code, secret = begun(classes)
    assert classes.store.document(code, "truth first") is None
    classes.reveal(code, secret, "first", TRUTH)
    assert classes.store.document(code, "truth first") == TRUTH
    classes.ask_again(code, secret, "first")
    assert classes.store.document(code, "truth first") is None and classes.snapshot(code).truth is None


def test_an_answer_is_refused_when_it_is_locked_revealed_or_over(classes: Classes) -> None:
    code, secret = begun(classes)
    pupil = classes.join(code)
    classes.answer(code, pupil, "first", 1, 2)
    classes.lock(code, secret)
    with pytest.raises(ClassRefusal):
        classes.answer(code, pupil, "first", 1, 0)
    classes.lock(code, secret, False)
    classes.answer(code, pupil, "first", 1, 1)
    classes.reveal(code, secret, "first", TRUTH)
    classes.lock(code, secret, False)  # the answer is known: unlocking does not open it again
    for step, round_ in (("first", 1), ("first", 2), ("second", 1)):
        with pytest.raises(ClassRefusal):
            classes.answer(code, pupil, step, round_, 0)
    classes.open(code, secret, NUMBER)
    with pytest.raises(ClassRefusal):
        classes.answer(code, pupil, "first", 1, 0)
    classes.open(code, secret, replace(FIRST, posed={"ask": "choice", "choices": ["a"]}))  # back to what was asked
    assert classes.snapshot(code).question == FIRST and classes.snapshot(code).answers == {pupil: 1}
    with pytest.raises(ClassRefusal):
        classes.answer(code, pupil, "first", 1, 0)


@pytest.mark.parametrize("guess", [3, -1, True, 1.0, "1", None, [1], {"a": 1}, 10**400])
def test_a_guess_that_is_none_is_not_taken(classes: Classes, guess: object) -> None:
    code, _ = begun(classes)
    pupil = classes.join(code)
    with pytest.raises(ValueError):
        classes.answer(code, pupil, "first", 1, guess)
    assert classes.snapshot(code).answers == {}


def test_nothing_is_done_without_the_teacher_s_secret(classes: Classes) -> None:
    code, secret = begun(classes)
    _, other = begun(classes)
    before = classes.store.state(code)
    for wrong in ("", other, secret[:-1], codes.digest(secret)):
        acts: list[Callable[[], object]] = [
            lambda wrong=wrong: classes.open(code, wrong, NUMBER),
            lambda wrong=wrong: classes.lock(code, wrong),
            lambda wrong=wrong: classes.reveal(code, wrong, "first", TRUTH),
            lambda wrong=wrong: classes.ask_again(code, wrong, "first"),
            lambda wrong=wrong: classes.look(code, wrong, "A", rules.PNG_SIGNATURE),
            lambda wrong=wrong: classes.release(code, wrong),
            lambda wrong=wrong: classes.end(code, wrong),
            lambda wrong=wrong: classes.counts(code, wrong),
            lambda wrong=wrong: classes.results(code, wrong),
        ]
        for act in acts:
            with pytest.raises(ClassRefusal):
                act()
    assert classes.store.state(code) == before
    assert secret not in str(before)


def test_classes_do_not_mix(classes: Classes) -> None:
    (code, secret), (other_code, _) = begun(classes), begun(classes)
    pupil = classes.join(code)
    with pytest.raises(ClassNotFound):
        classes.answer(other_code, pupil, "first", 1, 1)
    with pytest.raises(ClassNotFound):
        classes.answer(code, "made-up", "first", 1, 1)
    classes.answer(code, pupil, "first", 1, 1)
    assert classes.snapshot(other_code).answers == {} and classes.store.pupils(other_code) == set()
    classes.look(code, secret, "A picture", rules.PNG_SIGNATURE)
    assert classes.picture(code, pupil) == rules.PNG_SIGNATURE
    assert classes.picture(other_code, pupil) is None and classes.picture(code, "made-up") is None
    classes.end(code, secret)
    assert classes.snapshot(other_code).question == FIRST


def test_a_picture_is_shown_until_it_is_released(classes: Classes) -> None:
    code, secret = begun(classes)
    pupil = classes.join(code)
    for wrong in (b"<svg onload='alert(1)'/>", rules.PNG_SIGNATURE + bytes(rules.MAX_PICTURE_BYTES)):
        with pytest.raises(ClassRefusal):
            classes.look(code, secret, "A", wrong)
    classes.look(code, secret, "Layer 2", rules.PNG_SIGNATURE + b"1")
    assert (classes.snapshot(code).picture, classes.picture(code, pupil)) == ("Layer 2", rules.PNG_SIGNATURE + b"1")
    classes.release(code, secret)
    assert classes.picture(code, pupil) is None and classes.store.document(code, "picture") is None


def test_a_class_ends_by_itself_after_a_day_and_nothing_is_left(opened: Callable[[], Store]) -> None:
    store = opened()
    late = Classes(store, clock=lambda: time.time() - MAX_CLASS_SECONDS + 1.2)
    code, secret = begun(late)
    pupil = late.join(code)
    late.answer(code, pupil, "first", 1, 1)
    deadline = time.monotonic() + 10
    with pytest.raises(ClassNotFound):
        while time.monotonic() < deadline:
            late.snapshot(code)
            time.sleep(0.1)
    with pytest.raises(ClassNotFound):
        late.answer(code, pupil, "first", 1, 1)
    with pytest.raises(ClassNotFound):
        late.reveal(code, secret, "first", TRUTH)
    deadline = time.monotonic() + 10
    while left(store) and time.monotonic() < deadline:  # Redis keeps what has ended for less than a second more
        store.sweep()
        time.sleep(0.1)
    assert left(store) == []


def left(store: Store) -> list[object]:
    from server.classroom.sqlite import Sqlite

    if isinstance(store, Sqlite):
        tables = ("classes", "documents", "pupils", "answers")
        return [row for table in tables for row in store._open().execute(f"SELECT * FROM {table}")]
    return list(store.redis.keys("*"))  # type: ignore[attr-defined]


def test_there_is_room_for_so_many(classes: Classes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_PUPILS", 2)
    monkeypatch.setattr(rules, "MAX_CLASSES", 1)
    monkeypatch.setattr(rules, "MAX_ROUNDS", 2)
    monkeypatch.setattr(rules, "MAX_STEPS", 1)
    code, secret = begun(classes)
    classes.join(code), classes.join(code)
    with pytest.raises(CapacityError):
        classes.join(code)
    with pytest.raises(CapacityError):
        classes.start("Another")
    with pytest.raises(ClassRefusal):
        classes.open(code, secret, NUMBER)
    classes.ask_again(code, secret, "first")
    with pytest.raises(ClassRefusal):
        classes.ask_again(code, secret, "first")
    classes.end(code, secret)
    classes.start("Another")


def test_a_code_is_taken_once(classes: Classes, monkeypatch: pytest.MonkeyPatch) -> None:
    new_codes = iter(["00000001", "00000001", "00000002"])
    monkeypatch.setattr(codes, "new_code", lambda: next(new_codes))
    assert [classes.start("A")[0], classes.start("B")[0]] == ["00000001", "00000002"]


def test_processes_see_each_other_and_lose_nothing(opened: Callable[[], Store]) -> None:
    """Sixty answers through four connections at once, while the teacher locks and opens: what was taken is there."""
    code, secret = begun(Classes(opened()))
    answers: dict[str, int] = {}
    errors: list[BaseException] = []

    def pupils() -> None:
        mine = Classes(opened())
        try:
            for _ in range(15):
                pupil = mine.join(code)
                for guess in (0, 1, 2):
                    try:
                        mine.answer(code, pupil, "first", 1, guess)
                        answers[pupil] = guess
                    except ClassRefusal:
                        pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=pupils) for _ in range(4)]
    for thread in threads:
        thread.start()
    teacher, versions = Classes(opened()), []
    for _ in range(10):
        for locked in (True, False):
            teacher.lock(code, secret, locked)
            versions.append(teacher.store.versions([code])[code])
    for thread in threads:
        thread.join()
    snapshot, joined = teacher.counts(code, secret)
    assert errors == [] and joined == 60 and snapshot.answers == answers
    assert versions == sorted(set(versions))


def test_a_public_server_reaches_its_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_folders", None)  # and so again after the test
    access.confine([])
    for address in (redis_url, redis_url.replace("127.0.0.1", "localhost")):  # a name is looked up
        classes = Classes(RedisStore(address))
        code, secret = begun(classes)
        classes.answer(code, classes.join(code), "first", 1, 1)
        assert classes.counts(code, secret)[1] == 1
    with pytest.raises(PermissionError):
        socket.create_connection(("127.0.0.1", 9))


@pytest.mark.parametrize("typed", ["1234 5678", "12345678", " 1234-5678 "])
def test_a_code_may_be_spaced_in_any_way(typed: str) -> None:
    assert codes.parse(typed) == "12345678" and codes.spelt("12345678") == "1234 5678"


@pytest.mark.parametrize("typed", ["", "1234567", "123456789", "١٢٣٤٥٦٧٨", "abcd efgh", None, 12345678, " " * 99])
def test_what_is_no_code_is_none(typed: object) -> None:
    assert codes.parse(typed) is None


def test_an_answer_may_say_how_sure_one_is(classes: Classes) -> None:
    code, secret = begun(classes)
    ann, ben, cat = (classes.join(code) for _ in range(3))
    classes.answer(code, ann, "first", 1, 1, 3)
    classes.answer(code, ben, "first", 1, 1)
    classes.store.put(code, cat, ("first", 1), 2, lambda state: None)  # as older servers stored it
    snapshot = classes.snapshot(code)
    assert snapshot.answers == {ann: 1, ben: 1, cat: 2} and snapshot.sure == {ann: 3}
    classes.answer(code, ann, "first", 1, 0, None)  # taken back with the answer that it belonged to
    assert classes.snapshot(code).sure == {}
    classes.answer(code, ann, "first", 1, 0, 1)
    classes.reveal(code, secret, "first", TRUTH)
    (opened,) = classes.results(code, secret)
    assert list(zip(opened.rounds[0].guesses, opened.rounds[0].sure, strict=True)) == [(0, 1), (1, None), (2, None)]
    header, *lines = rows([opened])
    assert [line[header.index("sure")] for line in lines] == [1, None, None]


@pytest.mark.parametrize("sure", [0, 4, True, 2.0, "3", [3], {"sure": 3}, 10**400])
def test_sureness_that_is_none_is_refused_with_its_answer(classes: Classes, sure: object) -> None:
    code, _ = begun(classes)
    pupil = classes.join(code)
    with pytest.raises(ValueError, match="whole number from 1 to 3"):
        classes.answer(code, pupil, "first", 1, 1, sure)
    assert classes.snapshot(code).answers == {}


def test_sureness_in_a_damaged_record_is_not_said(classes: Classes) -> None:
    code, _ = begun(classes)
    pupil = classes.join(code)
    for how in (7, "x", None, [1]):
        classes.store.put(code, pupil, ("first", 1), {"guess": 1, "sure": how}, lambda state: None)
        assert classes.snapshot(code).answers == {pupil: 1} and classes.snapshot(code).sure == {}
