"""Speed at which this machine trains a network, measured in the background in a separate process."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import Future
from functools import cache
from threading import Lock, Thread

from headlight.machine import threads
from headlight.runs import Recipe
from headlight.runs.estimate import Speed, measure

SpeedRequest = tuple["Future[Speed]", Recipe, int, int]


class Measurements:
    """Measurements of speed, one at a time for all sessions: two would slow each other.

    Of the requests that wait, only the latest is measured.
    """

    def __init__(self) -> None:
        self._futures: dict[Hashable, Future[Speed]] = {}
        self._next: tuple[Hashable, SpeedRequest] | None = None
        self._busy = False
        self._lock = Lock()

    def get(self, recipe: Recipe, source_length: int, target_length: int, begin: bool) -> Future[Speed] | None:
        """Return the measurement, in progress or done, which is started if `begin`; None where there is none."""
        key = _key(recipe, source_length, target_length)
        with self._lock:
            if key in self._futures or not begin:
                return self._futures.get(key)
            if self._next is not None:
                del self._futures[self._next[0]]
            future = self._futures[key] = Future()
            self._next = key, (future, recipe, source_length, target_length)
            if not self._busy:
                self._busy = True
                Thread(target=self._measure, daemon=True).start()  # a daemon, so that the app can end
            return future

    def _measure(self) -> None:
        while (request := self._take_request()) is not None:
            future, *arguments = request
            try:
                future.set_result(measure(*arguments))  # type: ignore[arg-type]
            except Exception as error:
                future.set_exception(error)

    def _take_request(self) -> SpeedRequest | None:
        with self._lock:
            self._busy = self._next is not None
            if self._next is None:
                return None
            (_, request), self._next = self._next, None
            return request


def _key(recipe: Recipe, source_length: int, target_length: int) -> Hashable:
    """Return what the speed depends on."""
    training = recipe.training
    cost = (training.batch_tokens, training.accumulate, training.precision)
    return recipe.model, *cost, threads(recipe.threads), source_length, target_length


@cache
def measurements() -> Measurements:
    return Measurements()
