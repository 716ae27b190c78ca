"""What the first visitor would wait for is done as the server starts: imports above all, two seconds of a processor."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger("headlight")
_thread: threading.Thread | None = None


def begin(work: Callable[[], object]) -> None:
    """Does the work in a thread of its own. Where it fails the log says so, and the pages say what is wrong."""
    global _thread

    def run() -> None:
        try:
            work()
        except Exception:
            log.exception("the first page could not be made ready")

    _thread = threading.Thread(target=run, daemon=True, name="warming")
    _thread.start()


def wait() -> None:
    """Until that is done, where it was begun: two threads would find modules that the other has half imported."""
    if _thread is not None:
        _thread.join()
