"""What a class is, and what each of the two stores does. The rules are in `classes.py`."""

from __future__ import annotations

import json
import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from redis import RedisError

from transformer import folders

Json = Any


class Gone(LookupError):
    """There is no such class: it never was, or it has ended."""


class Full(ValueError):
    """No room for one more; the text says of what."""


@dataclass(frozen=True)
class State:
    """What changes in a class, but for its answers. The questions and their truths are documents beside it."""

    title: str
    secret: str  # the digest of the teacher's
    until: float  # seconds since 1970
    step: str | None = None  # that is open
    rounds: Mapping[str, int] = field(default_factory=dict)  # from 1, of each step that was opened, in that order
    revealed: tuple[str, ...] = ()  # steps
    locked: bool = False
    look: int = 0  # counts the pictures that were shown; the last is shown now where `looking`
    looking: bool = False

    @property
    def round(self) -> int:
        return self.rounds[self.step] if self.step else 0

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str | bytes) -> State:
        values = json.loads(text)
        return cls(**values | {"revealed": tuple(values["revealed"])})


AWAY = (OSError, sqlite3.OperationalError, RedisError)  # the store itself can't be reached
Act = Callable[[State], tuple[State, Mapping[str, Json]]]  # the state after it, and documents that are written with it
Slot = tuple[str, int]  # a step and a round of it


class Store(ABC):
    """All classes of a server. Whatever returns has been written; each method happens whole or not at all.

    Every method that names a class raises Gone where there is none. What was put in under a class leaves with it.
    """

    @abstractmethod
    def add(self, code: str, state: State, most: int) -> bool:
        """A new class, or False where the code is another's. Raises Full where there are `most` already."""

    @abstractmethod
    def state(self, code: str) -> tuple[int, State]:
        """The version, which grows with every change, and the state."""

    @abstractmethod
    def versions(self, codes: list[str]) -> dict[str, int]:
        """Of those that there are: never raises Gone."""

    @abstractmethod
    def change(self, code: str, act: Act) -> State:
        """`act` may be tried more than once; what it raises leaves everything as it is."""

    @abstractmethod
    def document(self, code: str, name: str) -> Json:
        """None where there is none of that name."""

    @abstractmethod
    def enter(self, code: str, pupil: str, most: int) -> None:
        """Raises Full where there are `most` pupils already."""

    @abstractmethod
    def pupils(self, code: str) -> set[str]: ...

    @abstractmethod
    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[State], None]) -> None:
        """A pupil's answer in place of the one before. `allowed` raises where the state at that moment refuses it.

        Raises Gone for somebody who is no pupil of the class.
        """

    @abstractmethod
    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        """By pupil."""

    @abstractmethod
    def remove(self, code: str) -> None:
        """Removes the class and all that belongs to it; nothing happens where it is gone."""

    @abstractmethod
    def sweep(self) -> None:
        """Removes the classes whose time is over."""


def _file() -> Path:
    return folders.classes() / "classes.sqlite3"


def used() -> bool:
    """Whether there may be a class: a server on which none was ever started has no file of them."""
    return bool(os.environ.get("HEADLIGHT_REDIS")) or _file().exists()


@cache
def store() -> Store:
    """The store that the settings name. HEADLIGHT_REDIS is its address; without it, HEADLIGHT_CLASSES is a folder.

    Raises ValueError for an address that is none of Redis's.
    """
    if address := os.environ.get("HEADLIGHT_REDIS", ""):
        from classroom.shared import Shared

        return Shared(address)
    from classroom.sqlite import Sqlite

    return Sqlite(_file())
