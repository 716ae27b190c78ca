"""A cache for all sessions: each value is computed once, and cached for as long as it is used.

`cached` is the decorator; a value is computed when its request has its turn in the queue.
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

import numpy as np
import streamlit as st
import torch

from headlight.language import gettext
from transformer import Translator
from transformer.yielding import on_yield
from ui.state.queue import POLL_SECONDS, TURNS, waiting_note
from ui.state.streamlit_internals import end_superseded_run, in_session

P = ParamSpec("P")
T = TypeVar("T")
Key = Callable[[tuple[Any, ...], dict[str, Any]], Hashable]

MAX_BYTES = 500_000_000  # of all caches together; models are limited by their number


def weight(value: object) -> int:
    """Return the bytes of a value: its arrays, and the objects that hold them.

    A model counts as 0, since many values share it.
    """
    counted, total, unvisited = set[int](), 0, [value]
    while unvisited:
        item = unvisited.pop()
        if id(item) in counted or isinstance(item, torch.nn.Module | Translator):
            continue
        counted.add(id(item))
        if hasattr(item, "nbytes"):
            total += int(item.nbytes)
            continue
        total += sys.getsizeof(item)
        if isinstance(item, dict):
            unvisited += [*item, *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            unvisited += item
        elif not isinstance(item, type):
            unvisited += getattr(item, "__dict__", {}).values()
    return total


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array, made read-only: all sessions share a cached value."""
    array.setflags(write=False)
    return array


class CacheEntry(NamedTuple):
    last_used: float
    value: Any
    weight: int


class Cache(Generic[T]):
    """The latest `max_entries` values by key, fewer where all caches together exceed their limit.

    A sweep drops a value that was not used for `seconds`.
    """

    def __init__(self, max_entries: int, seconds: float):
        self.max_entries, self.seconds = max_entries, seconds
        self._changed = threading.Condition()
        self._entries: OrderedDict[Hashable, CacheEntry] = OrderedDict()  # the latest at the end
        self._computing: set[Hashable] = set()
        _CACHES.append(self)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value of a key, computed once, however many threads ask for it at the same time."""
        while True:
            with self._changed:
                if key in self._entries:
                    entry = self._entries.pop(key)
                    grown = getattr(entry.value, "nbytes", entry.weight)  # some values grow, and tell their size
                    self._entries[key] = entry._replace(last_used=time.monotonic(), weight=grown)
                    return entry.value
                if key not in self._computing:
                    self._computing.add(key)
                    break
            self._wait_for(key)
        try:
            value = compute()
        except BaseException:  # the next one that waits for it tries again
            self._settle(key)
            raise
        self._settle(key, CacheEntry(time.monotonic(), value, weight(value)))
        enforce_limit()
        return value

    def _wait_for(self, key: Hashable) -> None:
        """Wait for the thread that computes the value, and release the turn for which that thread may be waiting."""
        with TURNS.released(), waiting_note() as note:
            while key in self._computing:
                with self._changed:
                    self._changed.wait_for(lambda: key not in self._computing, POLL_SECONDS)
                note(gettext("Another page is computing the same result"))

    def _settle(self, key: Hashable, entry: CacheEntry | None = None) -> None:
        with self._changed:
            self._computing.discard(key)
            if entry is not None:
                self._entries[key] = entry
            while len(self._entries) > self.max_entries:
                self._entries.popitem(last=False)
            self._changed.notify_all()

    @property
    def weight(self) -> int:
        with self._changed:
            return sum(entry.weight for entry in self._entries.values())

    @property
    def oldest(self) -> float:
        """Return when the least recently used value was used; infinite where no value has a weight."""
        with self._changed:
            return next((entry.last_used for entry in self._entries.values() if entry.weight), math.inf)

    def drop(self, last_used: float) -> None:
        """Drop the values that were last used at that time or before."""
        with self._changed:
            while self._entries and next(iter(self._entries.values())).last_used <= last_used:
                self._entries.popitem(last=False)

    def clear(self) -> None:
        self.drop(math.inf)


_CACHES: list[Cache[Any]] = []


def enforce_limit() -> None:
    """Drop the least recently used values of all caches until they are within the limit."""
    while sum(cache.weight for cache in _CACHES) > MAX_BYTES:
        oldest = min(cache.oldest for cache in _CACHES)
        for cache in _CACHES:
            cache.drop(oldest)


def sweep() -> None:
    """Drop, in every cache, the values that were not used in time."""
    for cache in _CACHES:
        cache.drop(time.monotonic() - cache.seconds)


def arguments_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Hashable:
    return args, tuple(sorted(kwargs.items()))


class CachedFunction(Generic[P, T]):
    """A function whose values are cached by the key that `key` makes of its arguments."""

    def __init__(self, function: Callable[P, T], cache: Cache[T], activity: str | None, turn: bool, key: Key):
        self.function, self.cache, self.activity, self.turn, self.key = function, cache, activity, turn, key

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        def compute() -> T:
            activity = gettext(self.activity) if self.activity else None
            spinner = st.spinner(activity) if activity and in_session() else nullcontext()
            with TURNS.turn(activity) if self.turn else on_yield(end_superseded_run), spinner:
                return self.function(*args, **kwargs)

        return self.cache.get(self.key(args, kwargs), compute)

    def is_cached(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Return whether that value is cached."""
        return self.key(args, kwargs) in self.cache

    def clear(self) -> None:
        self.cache.clear()


def cached(
    max_entries: int, activity: str | None = None, *, seconds: float = 600, turn: bool = True, key: Key = arguments_key
) -> Callable[[Callable[P, T]], CachedFunction[P, T]]:
    """Cache what a function returns by its arguments, which must be hashable, for all sessions.

    The cache holds the latest `max_entries` values, each for `seconds` after its last use. The function waits for its
    turn in the queue unless `turn` is false; `activity` is what the page says while it computes. `key` makes another
    key of the arguments, such as `models.versioned` for what is computed from a model.
    """
    return lambda function: CachedFunction(function, Cache(max_entries, seconds), activity, turn, key)
