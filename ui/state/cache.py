"""What was computed: each value once, for all sessions, for as long as somebody looks at it.

`kept` is the decorator; a value is made when it is its turn in the queue.
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

from ui.state.queue import LOOK, TURNS, noted

P = ParamSpec("P")
T = TypeVar("T")

LARGEST = 500_000_000  # bytes that all caches keep together; models are bounded by their number


def weight(value: object) -> int:
    """The bytes that a value takes, as far as it can be looked into: its arrays, and what holds them. A model counts
    nothing, since many values share it."""
    seen, found, left = set[int](), 0, [value]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, torch.nn.Module):
            continue
        seen.add(id(one))
        if hasattr(one, "nbytes"):
            found += int(one.nbytes)
            continue
        found += sys.getsizeof(one)
        if isinstance(one, dict):
            left += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            left += one
        elif not isinstance(one, type):
            left += getattr(one, "__dict__", {}).values()
    return found


class Entry(NamedTuple):
    asked: float  # when it was last asked for
    value: Any
    weight: int


class Kept(Generic[T]):
    """The latest `most` values by key, and fewer where all caches together hold too much. What nobody asked for in
    `seconds` is let go, whether somebody comes or not."""

    def __init__(self, most: int, seconds: float):
        self.most, self.seconds = most, seconds
        self._changed = threading.Condition()
        self._values: OrderedDict[Hashable, Entry] = OrderedDict()  # the latest at the end
        self._making: set[Hashable] = set()
        _ALL.append(self)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made once, however many ask for it at the same time."""
        while True:
            with self._changed:
                if key in self._values:
                    entry = self._values.pop(key)
                    grown = getattr(entry.value, "nbytes", entry.weight)  # some take in more, and say how much
                    self._values[key] = entry._replace(asked=time.monotonic(), weight=grown)
                    return entry.value
                if key not in self._making:
                    self._making.add(key)
                    break
            self._wait_for(key)
        try:
            value = make()
        except BaseException:  # whoever waits for it tries it in turn
            self._settle(key)
            raise
        self._settle(key, Entry(time.monotonic(), value, weight(value)))
        bound()
        return value

    def _wait_for(self, key: Hashable) -> None:
        """Until nobody makes it. Not with a turn in hand: who makes it may be waiting for one."""
        with TURNS.aside(), noted() as note:
            while key in self._making:
                with self._changed:
                    self._changed.wait_for(lambda: key not in self._making, LOOK)
                note("Another page asked for the same; it comes at once")

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
        """When what was longest not asked for was; infinite where there is nothing of weight."""
        with self._changed:
            return next((entry.asked for entry in self._values.values() if entry.weight), math.inf)

    def drop(self, asked: float) -> None:
        """Lets go what was last asked for then, or before."""
        with self._changed:
            while self._values and next(iter(self._values.values())).asked <= asked:
                self._values.popitem(last=False)

    def clear(self) -> None:
        with self._changed:
            self._values.clear()

    def sweep(self) -> None:
        """Lets go what nobody asked for in time."""
        self.drop(time.monotonic() - self.seconds)


_ALL: list[Kept[Any]] = []


def bound() -> None:
    """Lets go what was longest not asked for, in all caches, until they hold no more than they may."""
    while sum(values.weight for values in _ALL) > LARGEST:
        oldest = min(values.oldest for values in _ALL)
        for values in _ALL:
            values.drop(oldest)


def sweep() -> None:
    """Lets go, in every cache, what nobody asked for in time."""
    for values in _ALL:
        values.sweep()


class Ask(Generic[P, T]):
    """A function whose values are kept."""

    def __init__(self, function: Callable[P, T], values: Kept[T], doing: str | None, turn: bool):
        self.function, self.values, self.doing, self.turn = function, values, doing, turn

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        def make() -> T:
            with TURNS.turn() if self.turn else nullcontext(), st.spinner(self.doing) if self.doing else nullcontext():
                return self.function(*args, **kwargs)

        return self.values.get((args, tuple(sorted(kwargs.items()))), make)

    def clear(self) -> None:
        self.values.clear()


def kept(
    most: int, doing: str | None = None, *, seconds: float = 600, turn: bool = True
) -> Callable[[Callable[P, T]], Ask[P, T]]:
    """Keeps what a function returns by its arguments, which must be hashable: the latest `most`, for `seconds` after
    they were last asked for. It runs when it is its turn, unless it does not need the processor for itself;
    `doing` is what the page says meanwhile."""
    return lambda function: Ask(function, Kept(most, seconds), doing, turn)
