"""Batches the requests of several sessions: a batch of sentences takes a fraction of the time of each alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from headlight.language import gettext
from ui.state.queue import POLL_SECONDS, TURNS, waiting_note

G = TypeVar("G")
T = TypeVar("T")

MAX_BATCH_SIZE = 8  # texts: twice as many are hardly faster each, and the first of them waits for all


class _BatchRequest(Generic[T]):
    """A text whose value one or more sessions wait for. `values` is empty until it is computed, then has that value."""

    def __init__(self, alone: bool):
        self.alone, self.sessions, self.is_computing = alone, 0, False
        self.values: list[T] = []


class RequestBatcher(Generic[G, T]):
    """Computes the values of texts, in one call for those of a group (such as a model) that wait at the same time."""

    def __init__(self, compute: Callable[[G, list[str]], list[T]]):
        self._compute = compute
        self._changed = threading.Condition()
        self._requests: dict[tuple[G, str], _BatchRequest[T]] = {}  # in the order in which they came

    @contextmanager
    def waiting(self, group: G, text: str, alone: bool) -> Iterator[None]:
        """Let another session that has a turn compute this value with its own while the block waits.

        An `alone` value is computed here.
        """
        key = group, text
        with self._changed:
            request = self._requests.setdefault(key, _BatchRequest(alone))
            request.sessions += 1
        try:
            yield
        finally:
            with self._changed:
                request.sessions -= 1
                if not request.sessions:
                    del self._requests[key]

    def get(self, group: G, text: str, alone: bool) -> T:
        """Return the value of a text, computed here or in another session's batch. The caller has a turn."""
        with self.waiting(group, text, alone):
            return self._computed(group, text)

    def _computed(self, group: G, text: str) -> T:
        request = self._requests[group, text]
        while True:
            with self._changed:
                if request.values:
                    return request.values[0]
                batch = {} if request.is_computing else self._batch(group, text)
            if not batch:
                self._wait_for_other_batch(request)
                continue
            try:
                computed = self._compute(group, list(batch))
                with self._changed:
                    for member, value in zip(batch.values(), computed, strict=True):
                        member.values.append(value)
            except Exception:
                if len(batch) == 1:
                    raise
                for member in batch.values():  # computed one by one, so that only the request at fault gets the error
                    member.alone = True
            finally:  # after an error, or where this session moved on, the next one computes it
                with self._changed:
                    for member in batch.values():
                        member.is_computing = False
                    self._changed.notify_all()

    def _batch(self, group: G, text: str) -> dict[str, _BatchRequest[T]]:
        """Reserve a batch of this text and the first others of its group that wait: {text: request}."""
        request = self._requests[group, text]
        waiting = {
            other_text: other
            for (other_group, other_text), other in self._requests.items()
            if other_group == group and not (other.is_computing or other.values or other.alone)
        }
        batch = {text: request} | ({} if request.alone else waiting)
        batch = dict(list(batch.items())[:MAX_BATCH_SIZE])
        for member in batch.values():
            member.is_computing = True
        return batch

    def _wait_for_other_batch(self, request: _BatchRequest[T]) -> None:
        """Wait for the batch that has this text, and release the turn for which that batch may be waiting."""
        with TURNS.released(), waiting_note() as note:
            while request.is_computing and not request.values:
                note(gettext("Your sentence is being translated, with others"))
                with self._changed:
                    self._changed.wait_for(lambda: not request.is_computing or bool(request.values), POLL_SECONDS)
