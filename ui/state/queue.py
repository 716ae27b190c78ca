"""A queue for the model: a few requests compute at once, and whichever has used the fewest slices of time is next.

This is multilevel feedback scheduling (Corbató et al. 1962): a new sentence does not wait for a long request that has
used its first slice, and requests that have used equally many go in the order in which they came. A waiting session
says so on its page; one that was superseded or closed leaves the queue. Whatever computes in a turn calls
`transformer.yielding.yield_turn` at short intervals: there it may wait for others, and there a public server ends what
has computed for too long.
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

from headlight.language import current, gettext, ngettext, using
from headlight.machine import cores
from transformer.yielding import on_yield, yield_turn
from ui.state.public import public
from ui.state.streamlit_internals import current_run, end_if_closed, end_superseded_run, in_session, session_id

T = TypeVar("T")

SLICE_SECONDS = 0.5  # for which a request may compute before newer ones go first, and again before the next
POLL_SECONDS = 0.2  # between two checks that a waiting session is still there
NOTE_DELAY_SECONDS = 0.3  # of waiting before the page says so
BUDGET_SECONDS = 10.0  # of computing that one request has on a public server: one run of a page, or one file
MAX_QUEUE_LENGTH = 60  # requests that wait; to one more the server says at once that it is busy
LONG_SECONDS = 2.0  # of computing, after which a request counts as a long one
MAX_SUSPENDED = 4  # long requests that wait: each holds memory, so a fifth goes on to its end instead
NOTE_KEY = "waits"  # where the session state has the container of the note


def concurrent_requests(cores: int) -> int:
    """Return how many sessions use the model at once.

    Half of the cores, since pages and training need them too; and few, since small models wait for Python's lock more
    than they compute.
    """
    return max(1, min(4, cores // 2))


class Request:
    """A request in the queue, and the seconds that it has computed."""

    def __init__(self, computed: float):
        self.computed = computed

    def used_slices(self) -> int:
        return int(self.computed / SLICE_SECONDS)


class ServerBusyError(ValueError):
    """Raised where so many requests wait already that this one is refused."""


class BudgetSpentError(ValueError):
    """Raised where a request has computed for as long as a public server lets it."""


class Turns:
    """A queue for turns, of which `slots` run at a time. A thread with a turn may take it again."""

    def __init__(self, slots: int):
        self._changed = threading.Condition()
        self._free = slots
        self._queue: deque[Request] = deque()  # in the order in which they came
        self._slots = slots
        self._thread = threading.local()

    @contextmanager
    def turn(self, doing: str | None = None) -> Iterator[None]:
        """Compute when it is this thread's turn; `doing` names the work where it takes too long.

        Raises ServerBusyError where too many wait, and BudgetSpentError, here or while it computes.
        """
        if self.has_turn:
            yield
            return
        run = current_run()
        if run is None or run is not getattr(self._thread, "run", None):
            self._thread.run, self._thread.computed = run, 0.0
        self._thread.doing = doing
        self._require_budget()
        self._take()
        try:
            with on_yield(self.yield_turn):
                yield
        finally:
            self._give()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the turn of this thread, if it has one, and wait for another afterwards."""
        if not self.has_turn:
            yield
            return
        self._give()
        yield  # after an error here no turn is held, and `turn` has none to give back
        self._take(is_new=False)

    def yield_turn(self) -> None:
        """End long work whose session moved on, and let requests go first that have had fewer slices."""
        if not self.has_turn:
            return
        end_superseded_run()
        self._require_budget()
        computed = self._computed()
        with self._changed:
            fewest_slices = min(map(Request.used_slices, self._queue), default=math.inf)
            suspended = sum(request.computed > LONG_SECONDS for request in self._queue)
        may_wait = computed <= LONG_SECONDS or suspended < MAX_SUSPENDED
        if may_wait and computed // SLICE_SECONDS > fewest_slices:
            with self.released():
                pass

    def _computed(self) -> float:
        """Return the seconds of computing of this run of a page, in all of its turns."""
        running = time.thread_time() - self._thread.began if self.has_turn else 0.0
        return float(self._thread.computed + running)

    def _require_budget(self) -> None:
        if public() and self._computed() > BUDGET_SECONDS:
            raise BudgetSpentError(
                gettext(
                    "“{activity}” was not finished: on this public server each request has {seconds} seconds of "
                    "computing. Choose a shorter sentence or fewer of them, or run Headlight on your own computer.",
                    activity=self._thread.doing,
                    seconds=f"{BUDGET_SECONDS:g}",
                )
                if self._thread.doing
                else gettext(
                    "This was not finished: on this public server each request has {seconds} seconds of computing. "
                    "Choose a shorter sentence or fewer of them, or run Headlight on your own computer.",
                    seconds=f"{BUDGET_SECONDS:g}",
                )
            )

    @property
    def busy(self) -> bool:
        """Whether a request computes or waits."""
        return self._free < self._slots or bool(self._queue)

    @property
    def has_turn(self) -> bool:
        return getattr(self._thread, "began", None) is not None

    def _take(self, is_new: bool = True) -> None:
        request = Request(self._computed())
        with self._changed:
            if is_new and len(self._queue) >= MAX_QUEUE_LENGTH:
                raise ServerBusyError(
                    gettext(
                        "The server is busy: {count} requests are waiting already. Try again in a minute.",
                        count=MAX_QUEUE_LENGTH,
                    )
                )
            self._queue.append(request)
        try:
            with waiting_note() as note:
                while (ahead := self._wait(request)) > 0:
                    note(ngettext("{count} request ahead of yours", "{count} requests ahead of yours", ahead))
        except BaseException:
            with self._changed:
                if request in self._queue:
                    self._queue.remove(request)
                else:
                    self._free += 1
                self._changed.notify_all()
            raise
        self._thread.began = time.thread_time()

    def _wait(self, request: Request) -> int:
        """Wait for a moment; return how many requests are ahead: with 0, this one has its turn and left the queue."""
        with self._changed:
            if not self._is_next(request):
                self._changed.wait(POLL_SECONDS)
            if self._is_next(request):
                self._queue.remove(request)
                self._free -= 1
                self._changed.notify_all()
                return 0
            return sorted(self._queue, key=Request.used_slices).index(request) + self._slots - self._free

    def _is_next(self, request: Request) -> bool:
        return self._free > 0 and min(self._queue, key=Request.used_slices) is request

    def _give(self) -> None:
        if not self.has_turn:
            return
        self._thread.computed += time.thread_time() - self._thread.began
        self._thread.began = None
        with self._changed:
            self._free += 1
            self._changed.notify_all()


TURNS = Turns(concurrent_requests(cores()))


def in_turn(make: Callable[[], T], doing: str) -> Callable[[], T]:
    """Return `make` wrapped for a download button, which calls it outside of any script.

    It computes in a turn, in the language of the session, and no further once the session that it is for is closed.
    """
    session, language = session_id(), current()

    def content() -> T:
        with on_yield(partial(end_if_closed, session)), TURNS.turn(doing), using(language):
            return make()

    return content


class WaitPlaceholder(threading.local):
    """Draws what a thread's page shows while it waits, and says whether that was drawn."""

    draw: Callable[[], None] | None = None
    is_drawn = False


_PLACEHOLDER = WaitPlaceholder()


@contextmanager
def wait_placeholder(draw: Callable[[], None] | None) -> Iterator[WaitPlaceholder]:
    """Call `draw` once where the code within waits for long enough to be noticed. `draw` must wait for nothing."""
    _PLACEHOLDER.draw, _PLACEHOLDER.is_drawn = draw, False
    try:
        yield _PLACEHOLDER
    finally:
        _PLACEHOLDER.draw = None


@contextmanager
def waiting_note() -> Iterator[Callable[[str], None]]:
    """Return a function that shows on the page what it waits for, once that takes long enough to be noticed."""
    began, shown_text = time.monotonic(), ""
    container = None

    def note(text: str) -> None:
        nonlocal shown_text, container
        end_superseded_run()
        yield_turn()  # ends the wait where the work was cancelled, also outside of a script
        if time.monotonic() - began > NOTE_DELAY_SECONDS and text != shown_text and in_session():
            container, shown_text = st.session_state.get(NOTE_KEY), text
            if container is not None:
                container.caption(f":material/hourglass_empty: {text}")
            if (draw := _PLACEHOLDER.draw) is not None:
                _PLACEHOLDER.draw, _PLACEHOLDER.is_drawn = None, True
                draw()

    yield note
    if container is not None:
        container.empty()
