"""Long work beside the page: the page asks how far it is, and may be left meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
Progress = Callable[[float, str], None]  # share done, from 0 to 1, and what is being done


class Cancelled(Exception):
    """Raised inside the work when nobody wants it any more."""


class Job(Generic[T]):
    """Starts at once. `result` or `error` is there when it is `done`."""

    def __init__(self, do: Callable[[Progress], T]):
        self.share, self.doing = 0.0, ""
        self.result: T | None = None
        self.error: Exception | None = None
        self.done = False
        self._wanted = True
        Thread(target=self._run, args=(do,), daemon=True).start()

    def cancel(self) -> None:
        """The work ends at its next report."""
        self._wanted = False

    def _run(self, do: Callable[[Progress], T]) -> None:
        try:
            self.result = do(self._report)
        except Exception as error:  # told by the page, whatever it is
            self.error = error
        finally:
            self.done = True

    def _report(self, share: float, doing: str) -> None:
        if not self._wanted:
            raise Cancelled
        self.share, self.doing = min(max(share, 0.0), 1.0), doing
