"""What several sessions wait for, made in one call: a batch of sentences takes a fraction of the time of each alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from ui.state.queue import LOOK, TURNS, noted

G = TypeVar("G")
T = TypeVar("T")

MOST = 8  # at once: twice as many are hardly faster each, and the first of them waits for all


class _Request(Generic[T]):
    """Something that one or more sessions wait for. `found` has it once it is there."""

    def __init__(self, alone: bool):
        self.alone, self.sessions, self.taken = alone, 0, False
        self.found: list[T] = []


class Together(Generic[G, T]):
    """Makes values from texts, those of one group (such as a model) that wait at the same time in one call."""

    def __init__(self, make: Callable[[G, list[str]], list[T]]):
        self._make = make
        self._changed = threading.Condition()
        self._requests: dict[tuple[G, str], _Request[T]] = {}  # in the order in which they came

    @contextmanager
    def waiting(self, group: G, text: str, alone: bool) -> Iterator[None]:
        """Within it, whoever has a turn may make this value with their own, unless it is to be made `alone`."""
        key = group, text
        with self._changed:
            request = self._requests.setdefault(key, _Request(alone))
            request.sessions += 1
        try:
            yield
        finally:
            with self._changed:
                request.sessions -= 1
                if not request.sessions:
                    del self._requests[key]

    def get(self, group: G, text: str, alone: bool) -> T:
        """The value of a text, made here, or by the one who took it along. Asked for with a turn."""
        with self.waiting(group, text, alone):
            return self._got(group, text)

    def _got(self, group: G, text: str) -> T:
        request = self._requests[group, text]
        while True:
            with self._changed:
                if request.found:
                    return request.found[0]
                batch = {} if request.taken else self._batch(group, text)
            if not batch:
                self._elsewhere(request)
                continue
            try:
                made = self._make(group, list(batch))
                with self._changed:
                    for one, value in zip(batch.values(), made, strict=True):
                        one.found.append(value)
            except Exception:
                if len(batch) == 1:
                    raise
                for one in batch.values():  # one of them is at fault, and only who asked for that is told
                    one.alone = True
            finally:  # where it was not made, because of an error or since this session moved on, the next one tries
                with self._changed:
                    for one in batch.values():
                        one.taken = False
                    self._changed.notify_all()

    def _batch(self, group: G, text: str) -> dict[str, _Request[T]]:
        """This one first, and the first of those that can be read with it; they are taken."""
        own = self._requests[group, text]
        others = {
            other: request
            for (its, other), request in self._requests.items()
            if its == group and not (request.taken or request.found or request.alone)
        }
        batch = {text: own} | ({} if own.alone else others)
        batch = dict(list(batch.items())[:MOST])
        for one in batch.values():
            one.taken = True
        return batch

    def _elsewhere(self, request: _Request[T]) -> None:
        """Waits without a turn, for which the one who makes it may be waiting."""
        with TURNS.aside(), noted() as note:
            while request.taken and not request.found:
                note("Your sentence is being translated, with others")
                with self._changed:
                    self._changed.wait_for(lambda: not request.taken or bool(request.found), LOOK)
