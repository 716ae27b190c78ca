"""The state of a class, and the interface of the two stores.

`classes.py` has the rules.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from redis import RedisError

from headlight.language import gettext

Json = Any
IDLE_SECONDS = 2 * 3600.0  # a class ends after this time without any activity
PROLONG_SECONDS = 300.0  # answers postpone the end of a class in steps of this size, so that most need only one write
_LOG = logging.getLogger(__name__)
_CLOCK_OFFSET = time.time() - time.monotonic()


def now() -> float:
    """Return the seconds since 1970 by a monotonic clock.

    The wall clock is read once, when this process begins.
    """
    return _CLOCK_OFFSET + time.monotonic()


def ended_before() -> float:
    """Return the earlier of this process's clock and the wall clock: a class that ends before it is over.

    So a wall clock that is set forward, or was wrong when the process began, ends no class.
    """
    return min(now(), time.time())


class DamagedRecord(ValueError):
    """Raised where the stored record of a class is damaged."""


class ClassNotFound(LookupError):
    """Raised where a class does not exist, has ended, or does not have the pupil."""


class CapacityError(ValueError):
    """Raised where a server or a class is full; the message says which."""


def full_server(limit: int) -> CapacityError:
    return CapacityError(
        gettext("This server holds {number} classes already: end one, or wait until one has ended.", number=limit)
    )


def full_class(limit: int) -> CapacityError:
    return CapacityError(gettext("This class has {number} pupils already.", number=limit))


def not_a_pupil() -> ClassNotFound:
    return ClassNotFound("You are not in this class: join it with its code.")


def damage_stamp() -> str:
    """Return the part of a name under which a damaged record is set aside."""
    return f"damaged-{time.strftime('%Y%m%d-%H%M%S')}"


@dataclass(frozen=True)
class ClassState:
    """The part of a class that changes, except its answers. The questions and their truths are separate documents."""

    title: str
    secret: str  # the digest of the teacher's secret
    until: float  # seconds since 1970: when it ends if nobody does anything
    ends: float = 0.0  # when it ends even if it is in use
    step: str | None = None  # the open step
    rounds: Mapping[str, int] = field(default_factory=dict)  # the last round, from 1, by step in the order of opening
    revealed: tuple[str, ...] = ()  # the steps whose answer is shown
    locked: bool = False
    look: int = 0  # counts the pictures that were shown; the last is shown now where `looking`
    looking: bool = False

    @property
    def round(self) -> int:
        return self.rounds[self.step] if self.step else 0

    def text(self) -> str:
        return json.dumps(asdict(self))

    @property
    def has_ended(self) -> bool:
        return self.until <= ended_before()

    def prolonged(self) -> ClassState:
        """Return the state of a class in which something was just done."""
        return replace(self, until=max(self.until, min(self.ends, now() + IDLE_SECONDS)))

    def prolonged_by_pupil(self) -> ClassState | None:
        """Return the state of a class in which a pupil did something; None where it need not be written.

        The screens don't change, so neither does the version.
        """
        prolonged = self.prolonged()
        return prolonged if prolonged.until - self.until > PROLONG_SECONDS else None

    @classmethod
    def of(cls, text: str | bytes) -> ClassState:
        """Read what `text` wrote. Raises DamagedRecord."""
        values = parse(text)
        try:
            state = cls(**values | {"revealed": tuple(values["revealed"])})
            steps = [*state.rounds, *state.revealed] + [state.step] * (state.step is not None)
            is_valid = (
                all(isinstance(each, str) for each in (state.title, state.secret, *steps))
                and all(type(each) in (int, float) and math.isfinite(each) for each in (state.until, state.ends))
                and all(type(count) is int and count > 0 for count in state.rounds.values())
                and set(steps) <= set(state.rounds)
                and {type(state.locked), type(state.looking)} == {bool}
                and type(state.look) is int
            )
        except (TypeError, KeyError, AttributeError) as error:
            raise DamagedRecord("a state that does not fit") from error
        if not is_valid:
            raise DamagedRecord("a state that does not fit")
        return state


def parse(text: str | bytes) -> Json:
    """Parse JSON from the store. Raises DamagedRecord."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedRecord("invalid JSON") from error


UNAVAILABLE = (OSError, sqlite3.DatabaseError, RedisError)  # the store itself can't be reached
# A change of a class: returns the new state, and the documents that are written with it.
Act = Callable[[ClassState], tuple[ClassState, Mapping[str, Json]]]
Slot = tuple[str, int]  # a step and a round of it
P = ParamSpec("P")
R = TypeVar("R")


def repairing(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Wrap a store's method so that it is tried once more after a damaged record has been set aside."""

    @wraps(method)
    def repaired(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (DamagedRecord, sqlite3.DatabaseError, RedisError) as error:
            if not self.repair(error, str(args[0]) if args else ""):
                raise
        return method(self, *args, **kwargs)

    return repaired


class Store(ABC):
    """All classes of a server. A method returns after its change is written; each change is atomic.

    Every method that takes a class's code raises ClassNotFound where there is no such class. Everything of a class is
    removed with it. A damaged store, or the damaged record of a class, is renamed and set aside, and a new one starts.
    """

    def __init__(self) -> None:
        self.set_aside_as: dict[str, str] = {}  # the name of what was set aside, by the class's code; "" is the store

    def class_not_found(self, code: str) -> ClassNotFound:
        """Return the exception to raise where there is no class of this code."""
        if name := self.set_aside_as.get(code):
            return ClassNotFound(
                gettext(
                    "The record of this class was damaged. It was set aside as {name}: start a new class.", name=name
                )
            )
        if name := self.set_aside_as.get(""):
            return ClassNotFound(
                gettext(
                    "There is no such class: it may have ended, or was in the store that was damaged. That was set "
                    "aside as {name}, and a new one was started.",
                    name=name,
                )
            )
        return ClassNotFound(gettext("There is no such class: it may have ended."))

    def note_damage(self, code: str, damage: str, name: str, location: str) -> None:
        """Report what was set aside, in the log and to whoever asks for the class."""
        self.set_aside_as[code] = name
        owner = f"class {code}" if code else "all classes"
        _LOG.warning("The store of %s held %s. It was set aside as %s.", owner, damage, location)

    @abstractmethod
    def repair(self, error: Exception, code: str) -> bool:
        """Set aside the damaged record that made a method raise `error`; return False for errors of other causes."""

    @abstractmethod
    def set_aside(self, code: str, damage: str) -> None:
        """Set one class aside; `damage` names the part of it that can't be read."""

    @abstractmethod
    def add(self, code: str, state: ClassState, limit: int) -> bool:
        """Add a new class; return False where the code is taken. Raises CapacityError at `limit` classes."""

    @abstractmethod
    def state(self, code: str) -> tuple[int, ClassState]:
        """Return the version, which grows with every change, and the state."""

    @abstractmethod
    def versions(self, codes: list[str]) -> dict[str, int]:
        """Return the versions of those classes that exist; never raises ClassNotFound."""

    @abstractmethod
    def change(self, code: str, act: Act) -> ClassState:
        """Change the state by `act`, which may be called more than once; if it raises an error, nothing is changed."""

    @abstractmethod
    def document(self, code: str, name: str) -> Json:
        """Return the document of that name, or None."""

    @abstractmethod
    def enter(self, code: str, pupil: str, limit: int) -> None:
        """Add a pupil. Raises CapacityError at `limit` pupils."""

    @abstractmethod
    def pupils(self, code: str) -> set[str]: ...

    @abstractmethod
    def put(self, code: str, pupil: str, slot: Slot, guess: Json, allowed: Callable[[ClassState], None]) -> None:
        """Store a pupil's answer in place of the one before. Raises ClassNotFound for anybody but pupils of the class.

        `allowed` raises where the state at that moment refuses the answer.
        """

    @abstractmethod
    def answers(self, code: str, slot: Slot) -> dict[str, Json]:
        """Return the answers to a step in a round, by the key of the pupil."""

    @abstractmethod
    def remove(self, code: str) -> None:
        """Remove the class and all that belongs to it; does nothing where it is gone."""

    @abstractmethod
    def sweep(self) -> None:
        """Remove the classes whose time is over."""
