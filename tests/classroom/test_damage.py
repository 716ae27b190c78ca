"""A damaged store of classes is set aside under a name, a new one is started, and both are said. Clocks may jump."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from server.classroom import store as stores
from server.classroom.classes import Classes, ClassQuestion
from server.classroom.shared import RedisStore
from server.classroom.sqlite import Sqlite
from server.classroom.store import IDLE_SECONDS, ClassNotFound, Store

WORD = {"ask": "word", "labels": ["the", "cat"], "query": "it"}
FIRST = ClassQuestion("first", "Which word?", "Where does it look?", WORD)


def begun(classes: Classes) -> tuple[str, str, str]:
    code, secret = classes.start("A lesson")
    classes.open(code, secret, FIRST)
    pupil = classes.join(code)
    classes.answer(code, pupil, "first", 1, 1)
    return code, secret, pupil


def teaches(classes: Classes) -> None:
    code, secret, _ = begun(classes)
    assert classes.counts(code, secret)[1] == 1 and len(classes.results(code, secret)) == 1
    classes.end(code, secret)


def damage_file(path: Path, kind: str) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        if kind == "cut":
            file.truncate(size // 2 - 100)
        elif kind == "header":
            file.write(b"no database at all")
        elif kind == "pages":
            file.seek(4096)
            file.write(os.urandom(size - 4096))


@pytest.mark.parametrize("while_open", [False, True])
@pytest.mark.parametrize("kind", ["cut", "header", "pages", "other tables"])
def test_a_damaged_file_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, while_open: bool
) -> None:
    path = tmp_path / "classes.sqlite3"
    before = Classes(Sqlite(path))
    codes = [begun(before)[0] for _ in range(8)]
    store = before.store
    assert isinstance(store, Sqlite)
    store._open().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if kind == "other tables":
        store._open().executescript("DROP TABLE answers; CREATE TABLE answers (another TEXT)")
    else:
        damage_file(path, kind)
    with caplog.at_level(logging.WARNING):
        classes = before if while_open else Classes(Sqlite(path))
        if while_open:
            store.thread_state.base.close()
            del store.thread_state.base
        with pytest.raises(ClassNotFound, match="damaged") as error:
            for code in codes:
                classes.snapshot(code)
    (aside,) = (path_ for path_ in tmp_path.iterdir() if "damaged" in path_.name and path_.name[-1].isdigit())
    assert aside.name in str(error.value) and str(aside) in caplog.text
    assert aside.stat().st_mode & 0o077 == 0
    teaches(classes)
    teaches(Classes(Sqlite(path)))


def test_a_process_that_had_the_damaged_file_open_goes_on_with_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "classes.sqlite3"
    first, second = Classes(Sqlite(path)), Classes(Sqlite(path))
    begun(first)
    begun(second)
    damage_file(path, "header")
    third = Classes(Sqlite(path))
    code, secret, _ = begun(third)
    assert first.counts(code, secret)[1] == second.counts(code, secret)[1] == 1


STATES = ["", "{", "[]", "null", '{"title": 1}', "[" * 100_000]


@pytest.mark.parametrize("text", [*STATES, "step", "rounds", "secret", "until"])
def test_a_state_that_does_not_fit_costs_that_class_alone(
    opened: Callable[[], Store], caplog: pytest.LogCaptureFixture, text: str
) -> None:
    classes = Classes(opened())
    other, other_secret, _ = begun(classes)
    code, secret, pupil = begun(classes)
    good = classes.store.state(code)[1].text()
    wrong = {
        "step": good.replace('"step": "first"', '"step": "second"'),
        "rounds": good.replace('"first": 1', '"first": "x"'),
        "secret": good.replace('"secret": "', '"secret": ["').replace('", "until', '"], "until'),
        "until": good.replace('"until": ', '"until": NaN, "look": '),
    }
    write(classes.store, code, wrong.get(text, text) or "\0")
    with caplog.at_level(logging.WARNING), pytest.raises(ClassNotFound, match="set aside as .*damaged"):
        classes.counts(code, secret)
    assert "set aside as" in caplog.text and code in caplog.text
    for act in (lambda: classes.join(code), lambda: classes.answer(code, pupil, "first", 1, 0)):
        with pytest.raises(ClassNotFound):
            act()
    assert classes.store.versions([code, other]).keys() == {other}
    assert classes.counts(other, other_secret)[1] == 1
    teaches(classes)


def write(store: Store, code: str, text: str) -> None:
    if isinstance(store, Sqlite):
        store._open().execute("UPDATE classes SET state = ? WHERE code = ?", (text, code))
    else:
        assert isinstance(store, RedisStore)
        store.redis.set(f"headlight:{{{code}}}:state", text)


@pytest.mark.parametrize("body", ["{", "null", '{"posed": 1}'])
def test_a_question_that_does_not_fit_costs_that_class_alone(opened: Callable[[], Store], body: str) -> None:
    classes = Classes(opened())
    code, secret, _ = begun(classes)
    if isinstance(classes.store, Sqlite):
        classes.store._open().execute("UPDATE documents SET body = ?", (body,))
    else:
        assert isinstance(classes.store, RedisStore)
        classes.store.redis.hset(f"headlight:{{{code}}}:documents", "question first", body)
    with pytest.raises(ClassNotFound, match="damaged"):
        classes.counts(code, secret)
    teaches(classes)


@pytest.mark.parametrize("part", ["state", "version", "documents", "pupils", "answers", ""])
@pytest.mark.parametrize("kind", ["text", "list"])
def test_a_key_of_another_kind_on_redis_costs_that_class_alone(redis_url: str, part: str, kind: str) -> None:
    RedisStore(redis_url).redis.flushall()
    classes = Classes(RedisStore(redis_url))
    store = classes.store
    assert isinstance(store, RedisStore)
    code, secret, pupil = begun(classes)
    key = f"headlight:{{{code}}}:{part}" if part else "headlight:classes"
    store.redis.delete(key)
    store.redis.set(key, "x") if kind == "text" else store.redis.lpush(key, "x")
    acts: list[Callable[[], object]] = [
        lambda: classes.counts(code, secret),
        lambda: classes.answer(code, pupil, "first", 1, 0),
        lambda: classes.results(code, secret),
        lambda: classes.lock(code, secret),
        lambda: classes.join(code),
    ]
    gone = []
    for act in acts:
        try:
            act()
        except ClassNotFound as error:
            gone.append(str(error))
    assert bool(gone) == bool(part)  # the list of classes is made again
    assert isinstance(store.versions([code]), dict)
    store.sweep()
    teaches(classes)


def test_a_class_in_which_nobody_does_anything_ends(
    opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    start, passed = time.time(), 0.0
    monkeypatch.setattr(stores, "now", lambda: start + passed)
    monkeypatch.setattr(time, "time", lambda: start + passed)
    classes = Classes(opened())
    code, secret, pupil = begun(classes)
    idle, _, _ = begun(classes)
    for act in (
        lambda: classes.answer(code, pupil, "first", 1, 0),
        lambda: classes.lock(code, secret),
        lambda: classes.join(code),
    ):
        passed += 0.7 * IDLE_SECONDS
        act()  # a pupil who answers or joins keeps a class as its teacher does
    with pytest.raises(ClassNotFound):
        classes.snapshot(idle)
    classes.store.sweep()
    assert classes.store.versions([code, idle]).keys() == {code}
    passed += 1.1 * IDLE_SECONDS
    with pytest.raises(ClassNotFound):
        classes.counts(code, secret)


def test_a_class_lasts_a_day_at_most(opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch) -> None:
    start, passed = time.time(), 0.0
    monkeypatch.setattr(stores, "now", lambda: start + passed)
    monkeypatch.setattr(time, "time", lambda: start + passed)
    classes = Classes(opened(), clock=stores.now)
    code, secret, _ = begun(classes)
    for _ in range(23):
        passed += 3600
        classes.lock(code, secret)
    passed += 3600
    with pytest.raises(ClassNotFound):
        classes.lock(code, secret)


@pytest.mark.parametrize("days", [-2, 2, 10_000])
def test_a_clock_that_jumps_ends_no_class(
    opened: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, days: float
) -> None:
    classes = Classes(opened())
    code, secret, _ = begun(classes)
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + days * 86_400)
    classes.store.sweep()
    classes.lock(code, secret)
    other, _, _ = begun(classes)
    monkeypatch.setattr(time, "time", right)
    classes.store.sweep()
    assert classes.store.versions([code, other]).keys() == {code, other}
    assert classes.counts(code, secret)[1] == 1
