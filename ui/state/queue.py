"""A queue for the model: a few sessions at once; who has computed for less time goes first, then who came first.

So a sentence waits for no long request that has had its slice of time, and goes on to its end where others are as new
(multilevel feedback, Corbató et al. 1962). A waiting session says so on its page; one that was superseded or closed
gives its place up. Whatever computes in a turn calls `transformer.yielding.yield_turn` at short intervals, which is
where all this happens, and where a public server ends what has computed for too long.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

import streamlit as st

from headlight.runs.threads import cores
from transformer.yielding import on_yield, yield_turn
from ui.state.public import public
from ui.state.streamlit_internals import current_run, end_if_closed, end_superseded_run, in_session, session_id

T = TypeVar("T")

SLICE = 0.5  # seconds that a request may compute before newer ones go first, and again before the next
EARNED = 0.5  # seconds of computing that a second of waiting makes up for: who comes late does not keep others out
LOOK = 0.2  # seconds between two checks that a waiting session is still there
SILENT = 0.3  # seconds of waiting before the page says so
BUDGET_SECONDS = 10.0  # of computing that one request has on a public server: one run of a page, or one file
MAX_QUEUE_LENGTH = 60  # requests that wait; to one more the server says at once that it is busy
LONG_SECONDS = 2.0  # of computing, after which a request lets every new one go first, however long it has waited
MAX_SUSPENDED = 4  # long requests that wait: each holds memory, so a fifth goes on to its end instead
PLACE = "waits"  # the key of the note's place in the session state


def at_once(cores: int) -> int:
    """How many sessions use the model at the same time: half of the cores, since pages and training need them too; and
    few, since small models wait for Python's lock more than they compute."""
    return max(1, min(4, cores // 2))


class Request:
    """One that waits: how long it has computed, and since when it waits, in seconds, and whether it is a long one."""

    def __init__(self, used: float, long: bool):
        self.used, self.since, self.long = used, time.monotonic(), long

    def spent(self) -> float:
        """How long it has computed, less what it earned by waiting; of a long one at least a slice is left."""
        return max(SLICE if self.long else 0.0, self.used - EARNED * (time.monotonic() - self.since))

    def slices(self) -> int:
        return int(self.spent() / SLICE)


class ServerBusyError(ValueError):
    """So many requests wait already that this one is refused."""


class BudgetSpentError(ValueError):
    """A request has computed for as long as a public server lets it."""


class Turns:
    """A queue for `places`. A thread with a turn may take it again."""

    def __init__(self, places: int):
        self._changed = threading.Condition()
        self._free = places
        self._queue: deque[Request] = deque()  # in the order in which they came
        self._places = places
        self._mine = threading.local()

    @contextmanager
    def turn(self, doing: str | None = None) -> Iterator[None]:
        """Compute when it is this thread's turn; `doing` names the work where it takes too long.

        Raises ServerBusyError where too many wait, and BudgetSpentError, here or while it computes.
        """
        if self.held:
            yield
            return
        run = current_run()
        if run is None or run is not getattr(self._mine, "run", None):
            self._mine.run, self._mine.computed = run, 0.0
        self._mine.doing = doing
        self._require_budget()
        self._take()
        try:
            with on_yield(self.yield_turn):
                yield
        finally:
            self._give()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Gives up the turn of this thread, if it has one, and waits for it again afterwards."""
        if not self.held:
            yield
            return
        used = self._used()
        self._give()
        yield  # after an error here no turn is held, and `turn` has none to give back
        self._take(used)

    def yield_turn(self) -> None:
        """Between two steps of long work: end it if its session moved on, and let those go first that had less."""
        if not self.held:
            return
        end_superseded_run()
        self._require_budget()
        long = self._computed() > LONG_SECONDS
        if self._used() // SLICE > self._least() and not (long and self._suspended() >= MAX_SUSPENDED):
            with self.aside():
                pass

    def _computed(self) -> float:
        """Seconds of computing of this run of a page, in all of its turns."""
        running = time.thread_time() - self._mine.began if self.held else 0.0
        return float(self._mine.computed + running)

    def _require_budget(self) -> None:
        if public() and self._computed() > BUDGET_SECONDS:
            what = f"“{self._mine.doing}”" if self._mine.doing else "This"
            raise BudgetSpentError(
                f"{what} was not finished: on this public server each request has {BUDGET_SECONDS:g} seconds of "
                "computing. Choose a shorter sentence or fewer of them, or run Headlight on your own computer."
            )

    @property
    def busy(self) -> bool:
        """Whether somebody computes, or waits to."""
        return self._free < self._places or bool(self._queue)

    @property
    def held(self) -> bool:
        return getattr(self._mine, "since", None) is not None

    def _used(self) -> float:
        """Seconds that the request of this thread has computed."""
        return self._mine.used + time.monotonic() - self._mine.since

    def _least(self) -> float:
        """The slices of time that the next one in the queue has had; infinitely many where nobody waits."""
        with self._changed:
            return min(map(Request.slices, self._queue), default=math.inf)

    def _suspended(self) -> int:
        """How many long requests wait."""
        with self._changed:
            return sum(request.long for request in self._queue)

    def _take(self, used: float = 0.0) -> None:
        own = Request(used, self._computed() > LONG_SECONDS)
        with self._changed:
            if not used and len(self._queue) >= MAX_QUEUE_LENGTH:
                raise ServerBusyError(
                    f"The server is busy: {MAX_QUEUE_LENGTH} requests are waiting already. Try again in a minute."
                )
            self._queue.append(own)
        try:
            with noted() as note:
                while (before := self._before(own)) > 0:
                    note(f"{before} request{'s' if before > 1 else ''} ahead of yours")
        except BaseException:
            with self._changed:
                if own in self._queue:
                    self._queue.remove(own)
                else:
                    self._free += 1
                self._changed.notify_all()
            raise
        self._mine.used, self._mine.since, self._mine.began = own.spent(), time.monotonic(), time.thread_time()

    def _before(self, own: Request) -> int:
        """How many are ahead after a short wait; with 0 it has a place and is out of the queue."""
        with self._changed:
            if not self._next(own):
                self._changed.wait(LOOK)
            if self._next(own):
                self._queue.remove(own)
                self._free -= 1
                self._changed.notify_all()
                return 0
            return sorted(self._queue, key=Request.slices).index(own) + self._places - self._free

    def _next(self, own: Request) -> bool:
        return self._free > 0 and min(self._queue, key=Request.slices) is own

    def _give(self) -> None:
        if not self.held:
            return
        self._mine.since = None
        self._mine.computed += time.thread_time() - self._mine.began
        with self._changed:
            self._free += 1
            self._changed.notify_all()


TURNS = Turns(at_once(cores()))


def in_turn(make: Callable[[], T], doing: str) -> Callable[[], T]:
    """Return `make` as a download button calls it, outside of any script: computed in a turn, and no further once the
    session that it is for is closed."""
    session = session_id()

    def made() -> T:
        with on_yield(partial(end_if_closed, session)), TURNS.turn(doing):
            return make()

    return made


class Meanwhile(threading.local):
    """What a thread's page can show while it waits, and whether it did."""

    draw: Callable[[], None] | None = None
    drawn = False


_MEANWHILE = Meanwhile()


@contextmanager
def meanwhile(draw: Callable[[], None] | None) -> Iterator[Meanwhile]:
    """Calls `draw` once, if what is done within it waits long enough to be noticed. It must wait for nothing itself."""
    _MEANWHILE.draw, _MEANWHILE.drawn = draw, False
    try:
        yield _MEANWHILE
    finally:
        _MEANWHILE.draw = None


@contextmanager
def noted() -> Iterator[Callable[[str], None]]:
    """Shows on the page what it waits for, once that takes long enough to be noticed."""
    began, shown = time.monotonic(), ""
    place = None

    def note(text: str) -> None:
        nonlocal shown, place
        end_superseded_run()
        yield_turn()  # which ends what is waited for elsewhere than in a script, too
        if time.monotonic() - began > SILENT and text != shown and in_session():
            place, shown = st.session_state.get(PLACE), text
            if place is not None:
                place.caption(f":material/hourglass_empty: {text}")
            if (draw := _MEANWHILE.draw) is not None:
                _MEANWHILE.draw, _MEANWHILE.drawn = None, True
                draw()

    yield note
    if place is not None:
        place.empty()
