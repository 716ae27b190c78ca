"""Drops what is not needed any more, also while nobody visits: cached values, sessions, garbage, and freed memory.

Streamlit collects garbage after every run, over the objects of all sessions: with thirty of them that takes twice as
long as drawing a head, and holds everybody up. config.toml has it leave that to this.

What a decode has freed, the C library keeps: a sentence of 512 tokens leaves 200 MB in pieces of every size, and only
the end of its heap would be returned by itself. To return them takes 25 to 55 ms, and where little was freed, 1 ms.
"""

from __future__ import annotations

import gc
import logging
import threading
import time

from streamlit.runtime import get_instance

from headlight.machine import give_back
from ui.state import cache
from ui.state.jobs import JOBS
from ui.state.streamlit_internals import forget_sessions

log = logging.getLogger("headlight")
EVERY = 20.0  # seconds between two sweeps


def sweep_forever() -> None:
    """Starts the thread that sweeps."""

    def sweep() -> None:
        while True:
            time.sleep(EVERY)
            cache.sweep()
            JOBS.sweep()
            try:
                forget_sessions(get_instance())
            except (AttributeError, RuntimeError):  # another Streamlit, or one that is ending
                log.debug("sessions are left to Streamlit", exc_info=True)
            gc.collect()
            give_back()

    threading.Thread(target=sweep, daemon=True, name="sweep").start()
