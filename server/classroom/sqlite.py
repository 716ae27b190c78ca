"""The store for one machine: a file that several processes may open, and that outlives all of them."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from server.classroom.store import (
    Act,
    ClassState,
    DamagedRecord,
    Json,
    Slot,
    Store,
    damage_stamp,
    ended_before,
    full_class,
    full_server,
    not_a_pupil,
    parse,
    repairing,
)

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
_COLUMNS = {
    "classes": "code, version, state, until",
    "documents": "code, name, body",
    "pupils": "code, pupil",
    "answers": "code, step, round, pupil, guess",
}
# Errors after which the file is checked. The statements here are fixed, so SQLITE_ERROR means that the tables differ.
_FILE_ERRORS = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR_SHORT_READ}
_LOCK_TIMEOUT_SECONDS = 10.0  # for which one writer waits for another


class Sqlite(Store):
    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.thread_state = threading.local()  # a connection for each thread, and the file that it has open
        self.repairs = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._ensure_sound("")
        self.sweep()

    @repairing
    def add(self, code: str, state: ClassState, limit: int) -> bool:
        with self._writing() as base:
            base.execute("DELETE FROM classes WHERE until <= ?", (ended_before(),))
            if base.execute("SELECT count(*) FROM classes").fetchone()[0] >= limit:
                raise full_server(limit)
            row = (code, 1, state.text(), state.until)
            return base.execute("INSERT OR IGNORE INTO classes VALUES (?, ?, ?, ?)", row).rowcount == 1

    @repairing
    def state(self, code: str) -> tuple[int, ClassState]:
        return self._state(self._open(), code)

    @repairing
    def versions(self, codes: list[str]) -> dict[str, int]:
        marks = ", ".join("?" * len(codes))
        rows = self._open().execute(
            f"SELECT code, version FROM classes WHERE until > ? AND code IN ({marks})", (ended_before(), *codes)
        )
        return dict(rows.fetchall())

    @repairing
    def change(self, code: str, act: Act) -> ClassState:
        with self._writing() as base:
            state, documents = act(self._state(base, code)[1])
            state = state.prolonged()
            row = (state.text(), state.until, code)
            base.execute("UPDATE classes SET version = version + 1, state = ?, until = ? WHERE code = ?", row)
            rows = [(code, name, json.dumps(body)) for name, body in documents.items()]
            base.executemany("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", rows)
        return state

    @repairing
    def document(self, code: str, name: str) -> Json:
        base = self._open()
        self._state(base, code)
        row = base.execute("SELECT body FROM documents WHERE code = ? AND name = ?", (code, name)).fetchone()
        return parse(row[0]) if row else None

    @repairing
    def enter(self, code: str, pupil: str, limit: int) -> None:
        with self._writing() as base:
            self._prolong(base, code, self._state(base, code)[1])
            if base.execute("SELECT count(*) FROM pupils WHERE code = ?", (code,)).fetchone()[0] >= limit:
                raise full_class(limit)
            base.execute("INSERT OR IGNORE INTO pupils VALUES (?, ?)", (code, pupil))

    @repairing
    def pupils(self, code: str) -> set[str]:
        base = self._open()
        self._state(base, code)
        return {pupil for (pupil,) in base.execute("SELECT pupil FROM pupils WHERE code = ?", (code,))}

    @repairing
    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[ClassState], None]) -> None:
        with self._writing() as base:
            state = self._state(base, code)[1]
            allowed(state)
            if not base.execute("SELECT 1 FROM pupils WHERE code = ? AND pupil = ?", (code, pupil)).fetchone():
                raise not_a_pupil()
            row = (code, *slot, pupil, json.dumps(guess))
            base.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)
            self._prolong(base, code, state)

    @repairing
    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        base = self._open()
        self._state(base, code)
        sought = "SELECT pupil, guess FROM answers WHERE code = ? AND step = ? AND round = ?"
        return {pupil: parse(guess) for pupil, guess in base.execute(sought, (code, *slot))}

    @repairing
    def remove(self, code: str) -> None:
        with self._writing() as base:
            base.execute("DELETE FROM classes WHERE code = ?", (code,))

    @repairing
    def sweep(self) -> None:
        with self._writing() as base:
            removed = base.execute("DELETE FROM classes WHERE until <= ?", (ended_before(),)).rowcount
        if removed:  # the write-ahead log must not keep what was deleted
            self._open().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def repair(self, error: Exception, code: str) -> bool:
        if isinstance(error, DamagedRecord):
            self.set_aside(code, str(error))
            return True
        if not isinstance(error, sqlite3.DatabaseError) or getattr(error, "sqlite_errorcode", 0) not in _FILE_ERRORS:
            return False
        self._ensure_sound(str(error))
        return True

    def set_aside(self, code: str, damage: str) -> None:
        name = f"class-{code}.{damage_stamp()}.json"
        with self._writing() as base:
            rows = {
                table: base.execute(f"SELECT {columns} FROM {table} WHERE code = ?", (code,)).fetchall()
                for table, columns in _COLUMNS.items()
            }
            if not rows["classes"]:
                return  # another thread or process did it
            descriptor = os.open(self.path.with_name(name), os.O_CREAT | os.O_WRONLY, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump(rows, file, default=repr)
            base.execute("DELETE FROM classes WHERE code = ?", (code,))
        self.note_damage(code, damage, name, str(self.path.with_name(name)))

    def _ensure_sound(self, error: str) -> None:
        """Create the file if it is missing, and replace it if it can't be read; `error` says what failed before."""
        with self.repairs:
            damage = self._find_damage()
            if damage is None:  # or another thread or process has replaced it already
                return
            name = f"{self.path.name}.{damage_stamp()}"
            for end in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{self.path}{end}", self.path.with_name(f"{name}{end}"))
            self.note_damage("", error or damage, name, str(self.path.with_name(name)))
            if damage := self._find_damage():
                raise sqlite3.DatabaseError(f"{self.path} can't be made: {damage}")

    def _find_damage(self) -> str | None:
        """Create the file if it is missing; return what is wrong with it, or None where all of it can be read."""
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # other users of this machine may not read it
        try:
            with closing(self._connect()) as base:
                base.executescript(_TABLES)
                for table, columns in _COLUMNS.items():
                    base.execute(f"SELECT {columns} FROM {table} LIMIT 1")
                verdict = base.execute("PRAGMA quick_check(1)").fetchone()[0]
                return None if verdict == "ok" else str(verdict)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) not in _FILE_ERRORS:
                raise
            return str(error)

    def _connect(self) -> sqlite3.Connection:
        base = sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT_SECONDS, isolation_level=None)
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")  # what was acknowledged is on the disk
        base.execute("PRAGMA foreign_keys = ON")
        base.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        return base

    def _open(self) -> sqlite3.Connection:
        try:
            file = os.stat(self.path).st_ino
        except FileNotFoundError:
            self._ensure_sound("")
            file = os.stat(self.path).st_ino
        base: sqlite3.Connection | None = getattr(self.thread_state, "base", None)
        if base is None or self.thread_state.file != file:  # another process may have set aside the open file
            if base is not None:
                base.close()
            self.thread_state.base = None
            base = self._connect()
            self.thread_state.base, self.thread_state.file = base, file
        return base

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        base = self._open()
        base.execute("BEGIN IMMEDIATE")
        try:
            yield base
        except BaseException:
            with suppress(sqlite3.DatabaseError):  # a damaged file can't be rolled back; the first error says more
                base.execute("ROLLBACK")
            raise
        base.execute("COMMIT")

    def _state(self, base: sqlite3.Connection, code: str) -> tuple[int, ClassState]:
        sought = "SELECT version, state FROM classes WHERE code = ? AND until > ?"
        row = base.execute(sought, (code, ended_before())).fetchone()
        if row is None:
            raise self.class_not_found(code)
        if type(row[0]) is not int:
            raise DamagedRecord("a version that is not a number")
        return row[0], ClassState.of(row[1])

    def _prolong(self, base: sqlite3.Connection, code: str, state: ClassState) -> None:
        if prolonged := state.prolonged_by_pupil():
            row = (prolonged.text(), prolonged.until, code)
            base.execute("UPDATE classes SET state = ?, until = ? WHERE code = ?", row)
