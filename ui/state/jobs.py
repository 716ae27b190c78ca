"""Long work in threads, whose progress a page shows while it stays usable.

`JOBS` are the measurements, running and done, of all sessions: each is made once, one at a time, and the latest are
kept. Results that are also on disk are dropped first. Measurements of an uploaded corpus are not on disk, so no other
measurement displaces them: they are dropped, or cancelled, ten minutes after the last page that shows them was closed.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock, Thread
from typing import Generic, TypeVar

from transformer.yielding import on_yield

T = TypeVar("T")
log = logging.getLogger("headlight")
# Measurements that are also on the disk. That of a model of 200 heads with its history takes some megabytes.
MAX_STORED_JOBS = 16
PAGE_POLL_SECONDS = 5.0  # within which a page that waits for a measurement asks for its progress
UNSEEN_SECONDS = 600.0  # after which a measurement of an uploaded corpus is dropped
WAITING, STARTING = "Waiting for another measurement", "Starting"  # what a job is doing before it reports itself
Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done


class Cancelled(Exception):
    """Raised inside the work when it was cancelled."""


class Job(Generic[T]):
    """A function that runs in a thread from the start. `result` or `error` is there when it is `done`."""

    def __init__(self, do: Callable[[Progress], T]):
        self.share, self.doing = 0.0, ""
        self.result: T | None = None
        self.error: Exception | None = None
        self.done = False
        self._is_wanted = True
        Thread(target=self._run, args=(do,), daemon=True).start()

    @property
    def is_waiting(self) -> bool:
        """Whether the job has not begun, since another one runs."""
        return not self.done and self.doing in ("", WAITING)

    def cancel(self) -> None:
        """End the work when it next yields."""
        self._is_wanted = False

    def _run(self, do: Callable[[Progress], T]) -> None:
        try:
            with on_yield(self._end_if_cancelled):
                self.result = do(self._report)
        except Exception as error:  # shown by the page
            self.error = error
        finally:
            self.done = True

    def _end_if_cancelled(self) -> None:
        if not self._is_wanted:
            raise Cancelled

    def _report(self, share: float, doing: str) -> None:
        self._end_if_cancelled()
        self.share, self.doing = min(max(share, 0.0), 1.0), doing


@dataclass
class _JobEntry:
    job: Job[object]
    is_private: bool
    seen_at: float = field(default_factory=time.monotonic)


class Jobs:
    """The requested jobs, the latest seen last; a running one that is dropped is cancelled."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[tuple[str, Hashable], _JobEntry] = OrderedDict()
        self._lock, self._computing = Lock(), Lock()

    def get(
        self,
        kind: str,
        request: Hashable,
        do: Callable[[Progress], object],
        find: Callable[[], object] = lambda: None,
        is_private: bool = False,
    ) -> Job[object]:
        """Start the job if it was not requested before; `find` may return a cached result, without a turn."""
        with self._lock:
            if (kind, request) not in self._jobs:
                job = Job(partial(self._find_or_compute, kind, find, do))
                self._jobs[kind, request] = _JobEntry(job, is_private)
                self._enforce_limit()
            self._mark(kind, request)
            return self._jobs[kind, request].job

    def started(self, kind: str, request: Hashable) -> Job[object] | None:
        """Return a job that was requested before and was not dropped since, or None."""
        with self._lock:
            entry = self._jobs.get((kind, request))
        return None if entry is None else entry.job

    def keep_alive(self, kind: str, request: Hashable) -> None:
        """Mark a job as one that an open page still shows."""
        with self._lock:
            if (kind, request) in self._jobs:
                self._mark(kind, request)

    def _mark(self, kind: str, request: Hashable) -> None:
        self._jobs.move_to_end((kind, request))
        self._jobs[kind, request].seen_at = time.monotonic()

    def _enforce_limit(self) -> None:
        """Drop the least recently seen jobs above the limit.

        A job that a page waits for stays: the page would request it again and displace the next one, and with more
        pages than jobs that may be stored, none would ever finish.
        """
        until = time.monotonic() - PAGE_POLL_SECONDS
        releasable = [key for key, entry in self._jobs.items() if not entry.is_private]
        for key in releasable[: max(0, len(releasable) - MAX_STORED_JOBS)]:
            if self._jobs[key].seen_at < until:
                self._jobs.pop(key).job.cancel()

    def drop(self, kind: str, request: Hashable) -> None:
        """Drop a job, and end its work when it next yields; the next request starts it again."""
        with self._lock:
            entry = self._jobs.pop((kind, request), None)
        if entry is not None:
            entry.job.cancel()

    def sweep(self) -> None:
        """Drop the jobs of uploaded corpora that no page shows any more."""
        until = time.monotonic() - UNSEEN_SECONDS
        with self._lock:
            for key in [key for key, entry in self._jobs.items() if entry.is_private and entry.seen_at < until]:
                self._jobs.pop(key).job.cancel()

    def _find_or_compute(
        self, kind: str, find: Callable[[], object], do: Callable[[Progress], object], progress: Progress
    ) -> object:
        try:
            stored = find()
            return self._alone(do, progress) if stored is None else stored
        except Cancelled:
            raise
        except Exception as error:
            # What is wrong with a corpus is shown to its user; other errors are for the log.
            if kind == "history" or not isinstance(error, ValueError | OSError):
                log.error("the %s could not be measured", kind, exc_info=error)
            raise

    def _alone(self, do: Callable[[Progress], object], progress: Progress) -> object:
        while not self._computing.acquire(timeout=0.5):
            progress(0.0, WAITING)
        try:
            progress(0.0, STARTING)
            return do(progress)
        finally:
            self._computing.release()


JOBS = Jobs()
