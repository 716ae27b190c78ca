"""The store of one machine: a file that several processes may open, and that outlives all of them."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from classroom.store import Act, Full, Gone, Json, Slot, State, Store

_TABLES = """
CREATE TABLE IF NOT EXISTS classes (code TEXT PRIMARY KEY, version INTEGER NOT NULL, state TEXT NOT NULL,
  until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS documents (code TEXT REFERENCES classes ON DELETE CASCADE, name TEXT, body TEXT NOT NULL,
  PRIMARY KEY (code, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pupils (code TEXT REFERENCES classes ON DELETE CASCADE, pupil TEXT,
  PRIMARY KEY (code, pupil)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (code TEXT, step TEXT, round INTEGER, pupil TEXT, guess TEXT NOT NULL,
  PRIMARY KEY (code, step, round, pupil), FOREIGN KEY (code, pupil) REFERENCES pupils ON DELETE CASCADE) WITHOUT ROWID;
"""
_WAITS = 10.0  # seconds that one writer waits for another


class Sqlite(Store):
    def __init__(self, path: Path):
        self.path = path
        self.here = threading.local()  # a connection for each thread
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # what a class wrote is nobody else's on this machine
        self._open().executescript(_TABLES)
        self.sweep()

    def add(self, code: str, state: State, most: int) -> bool:
        with self._writing() as base:
            base.execute("DELETE FROM classes WHERE until <= ?", (time.time(),))
            if base.execute("SELECT count(*) FROM classes").fetchone()[0] >= most:
                raise Full(f"This server holds {most} classes already: end one, or wait until one has ended.")
            row = (code, 1, state.text(), state.until)
            return base.execute("INSERT OR IGNORE INTO classes VALUES (?, ?, ?, ?)", row).rowcount == 1

    def state(self, code: str) -> tuple[int, State]:
        return _state(self._open(), code)

    def versions(self, codes: list[str]) -> dict[str, int]:
        marks = ", ".join("?" * len(codes))
        found = self._open().execute(
            f"SELECT code, version FROM classes WHERE until > ? AND code IN ({marks})", (time.time(), *codes)
        )
        return dict(found.fetchall())

    def change(self, code: str, act: Act) -> State:
        with self._writing() as base:
            state, documents = act(_state(base, code)[1])
            base.execute("UPDATE classes SET version = version + 1, state = ? WHERE code = ?", (state.text(), code))
            rows = [(code, name, json.dumps(body)) for name, body in documents.items()]
            base.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", rows)
        return state

    def document(self, code: str, name: str) -> Json:
        base = self._open()
        _state(base, code)
        row = base.execute("SELECT body FROM documents WHERE code = ? AND name = ?", (code, name)).fetchone()
        return json.loads(row[0]) if row else None

    def enter(self, code: str, pupil: str, most: int) -> None:
        with self._writing() as base:
            _state(base, code)
            if base.execute("SELECT count(*) FROM pupils WHERE code = ?", (code,)).fetchone()[0] >= most:
                raise Full(f"This class has {most} pupils already.")
            base.execute("INSERT OR IGNORE INTO pupils VALUES (?, ?)", (code, pupil))

    def pupils(self, code: str) -> set[str]:
        base = self._open()
        _state(base, code)
        return {pupil for (pupil,) in base.execute("SELECT pupil FROM pupils WHERE code = ?", (code,))}

    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[State], None]) -> None:
        with self._writing() as base:
            allowed(_state(base, code)[1])
            if not base.execute("SELECT 1 FROM pupils WHERE code = ? AND pupil = ?", (code, pupil)).fetchone():
                raise Gone("You are not in this class: join it with its code.")
            row = (code, *slot, pupil, json.dumps(guess))
            base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        base = self._open()
        _state(base, code)
        sought = "SELECT pupil, guess FROM answers WHERE code = ? AND step = ? AND round = ?"
        return {pupil: json.loads(guess) for pupil, guess in base.execute(sought, (code, *slot))}

    def remove(self, code: str) -> None:
        with self._writing() as base:
            base.execute("DELETE FROM classes WHERE code = ?", (code,))

    def sweep(self) -> None:
        with self._writing() as base:
            gone = base.execute("DELETE FROM classes WHERE until <= ?", (time.time(),)).rowcount
        if gone:  # nothing of them is left in the file of what was written last
            self._open().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _open(self) -> sqlite3.Connection:
        base: sqlite3.Connection | None = getattr(self.here, "base", None)
        if base is None:
            base = self.here.base = sqlite3.connect(self.path, timeout=_WAITS, isolation_level=None)
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = FULL")  # what was acknowledged is on the disk
            base.execute("PRAGMA foreign_keys = ON")
            base.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        return base

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        base = self._open()
        base.execute("BEGIN IMMEDIATE")
        try:
            yield base
        except BaseException:
            base.execute("ROLLBACK")
            raise
        base.execute("COMMIT")


def _state(base: sqlite3.Connection, code: str) -> tuple[int, State]:
    sought = "SELECT version, state FROM classes WHERE code = ? AND until > ?"
    row = base.execute(sought, (code, time.time())).fetchone()
    if row is None:
        raise Gone("There is no such class: it may have ended.")
    return row[0], State.of(row[1])
