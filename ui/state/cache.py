"""A cache for all sessions: each value is computed once and kept while it is used.

`kept` is the decorator; a value is computed when its request has its turn in the queue.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

import streamlit as st
import torch

from transformer import Translator
from transformer.yielding import on_yield
from ui.state.queue import LOOK, TURNS, noted
from ui.state.streamlit_internals import end_superseded_run, in_session

P = ParamSpec("P")
T = TypeVar("T")

LARGEST = 500_000_000  # bytes of all caches together; models are limited by their number


def weight(value: object) -> int:
    """The bytes of a value: its arrays, and the objects that hold them. A model counts as 0, since many values share
    it."""
    seen, total, left = set[int](), 0, [value]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, torch.nn.Module | Translator):
            continue
        seen.add(id(one))
        if hasattr(one, "nbytes"):
            total += int(one.nbytes)
            continue
        total += sys.getsizeof(one)
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            left += one
        elif not isinstance(one, type):
            left += getattr(one, "__dict__", {}).values()
    return total


class Entry(NamedTuple):
    asked: float  # when it was last used
    value: Any
    weight: int


class Kept(Generic[T]):
    """The latest `most` values by key, fewer where all caches together hold too much. A value that was not used for
    `seconds` is dropped by a sweep."""

    def __init__(self, most: int, seconds: float):
        self.most, self.seconds = most, seconds
        self._changed = threading.Condition()
        self._values: OrderedDict[Hashable, Entry] = OrderedDict()  # the latest at the end
        self._making: set[Hashable] = set()
        _ALL.append(self)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made once, however many ask for it at the same time."""
        while True:
            with self._changed:
                if key in self._values:
                    entry = self._values.pop(key)
                    grown = getattr(entry.value, "nbytes", entry.weight)  # some values grow, and tell their size
                    self._values[key] = entry._replace(asked=time.monotonic(), weight=grown)
                    return entry.value
                if key not in self._making:
                    self._making.add(key)
                    break
            self._wait_for(key)
        try:
            value = make()
        except BaseException:  # the next one that waits for it tries again
            self._settle(key)
            raise
        self._settle(key, Entry(time.monotonic(), value, weight(value)))
        bound()
        return value

    def _wait_for(self, key: Hashable) -> None:
        """Waits until no other thread computes it, without a turn, for which that thread may be waiting."""
        with TURNS.aside(), noted() as note:
            while key in self._making:
                with self._changed:
                    self._changed.wait_for(lambda: key not in self._making, LOOK)
                note("Another page is computing the same result")

    def _settle(self, key: Hashable, *made: Entry) -> None:
        with self._changed:
            self._making.discard(key)
            for entry in made:
                self._values[key] = entry
            while len(self._values) > self.most:
                self._values.popitem(last=False)
            self._changed.notify_all()

    @property
    def weight(self) -> int:
        with self._changed:
            return sum(entry.weight for entry in self._values.values())

    @property
    def oldest(self) -> float:
        """When the least recently used value was used; infinite where no value has a weight."""
        with self._changed:
            return next((entry.asked for entry in self._values.values() if entry.weight), math.inf)

    def drop(self, asked: float) -> None:
        """Drops the values last used at that time or before."""
        with self._changed:
            while self._values and next(iter(self._values.values())).asked <= asked:
                self._values.popitem(last=False)

    def clear(self) -> None:
        with self._changed:
            self._values.clear()

    def sweep(self) -> None:
        """Drops what was not used in time."""
        self.drop(time.monotonic() - self.seconds)


_ALL: list[Kept[Any]] = []


def bound() -> None:
    """Drops the least recently used values of all caches until they are within the limit."""
    while sum(values.weight for values in _ALL) > LARGEST:
        oldest = min(values.oldest for values in _ALL)
        for values in _ALL:
            values.drop(oldest)


def sweep() -> None:
    """Drops, in every cache, what was not used in time."""
    for values in _ALL:
        values.sweep()


class Ask(Generic[P, T]):
    """A function whose values are cached."""

    def __init__(self, function: Callable[P, T], values: Kept[T], doing: str | None, turn: bool):
        self.function, self.values, self.doing, self.turn = function, values, doing, turn

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        def make() -> T:
            said = st.spinner(self.doing) if self.doing and in_session() else nullcontext()
            with TURNS.turn(self.doing) if self.turn else on_yield(end_superseded_run), said:
                return self.function(*args, **kwargs)

        return self.values.get(_key(args, kwargs), make)

    def has(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Whether that value is there, so that nobody waits for it."""
        return _key(args, kwargs) in self.values

    def clear(self) -> None:
        self.values.clear()


def _key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    return args, tuple(sorted(kwargs.items()))


def kept(
    most: int, doing: str | None = None, *, seconds: float = 600, turn: bool = True
) -> Callable[[Callable[P, T]], Ask[P, T]]:
    """Keeps what a function returns by its arguments, which must be hashable: the latest `most`, for `seconds` after
    they were last asked for. It runs when it is its turn, unless it does not need the processor for itself;
    `doing` is what the page says meanwhile."""
    return lambda function: Ask(function, Kept(most, seconds), doing, turn)
