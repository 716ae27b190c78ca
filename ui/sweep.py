"""Lets go of what nobody needs any more, also while nobody comes: values, sessions, and garbage.

Streamlit collects garbage after every run, over the objects of all sessions: with thirty of them that takes twice as
long as drawing a head, and holds everybody up. config.toml has it leave that to this.
"""

from __future__ import annotations

import gc
import logging
import threading
import time

from streamlit.runtime import Runtime, get_instance

from ui import turns
from ui.heads.underway import JOBS

log = logging.getLogger("headlight")
EVERY = 20.0  # seconds between two sweeps


def sweep_forever() -> None:
    """Starts the thread that sweeps."""

    def sweep() -> None:
        while True:
            time.sleep(EVERY)
            turns.sweep()
            JOBS.sweep()
            try:
                forget_sessions(get_instance())
            except (AttributeError, RuntimeError):  # another Streamlit, or one that is ending
                log.debug("sessions are left to Streamlit", exc_info=True)
            gc.collect()

    threading.Thread(target=sweep, daemon=True, name="sweep").start()


def forget_sessions(runtime: Runtime) -> None:
    """Lets go of the sessions that did not come back in time, with all that was typed in them.

    Streamlit does so when another session leaves, and on a quiet server never; it has no public word for it.
    """
    kept = runtime._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    runtime._get_async_objs().eventloop.call_soon_threadsafe(kept.expire)
