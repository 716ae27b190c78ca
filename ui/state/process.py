"""The process that serves the app: its preparation before the first page, and a thread that sweeps.

The sweep drops what is not needed any more, also while nobody visits: cached values, sessions, garbage, and freed
memory. Streamlit collects garbage after every run, over the objects of all sessions: with thirty of them that takes
twice as long as drawing a head, and holds everybody up. config.toml has it leave that to the sweep.

The C library keeps what a decode has freed: a sentence of 512 tokens leaves 200 MB in pieces of every size, and by
itself the library returns only the end of its heap. Returning all takes 25 to 55 ms, or 1 ms where little was freed.
"""

from __future__ import annotations

import gc
import logging
import sys
import threading
import time
from functools import cache as once
from importlib import import_module

import plotly.graph_objects as go
import torch
from streamlit.runtime import get_instance

from headlight.machine import limit_onednn_cache, release_freed_memory, return_large_blocks
from ui.state import cache
from ui.state.jobs import JOBS
from ui.state.streamlit_internals import forget_sessions

log = logging.getLogger("headlight")
SWEEP_SECONDS = 20.0  # between two sweeps
# How long a thread may hold Python's lock (the GIL) while another waits. A decode requests it hundreds of times a step,
# and waits that long each time while a page is drawn: at the default of 5 ms it takes nearly twice as long as at 1 ms.
SWITCH_SECONDS = 0.001


def prepare() -> None:
    """Prepare the process once, also for simultaneous first visitors.

    Streamlit's caches would not do: any visitor can clear them.
    """
    with _PREPARING:
        _prepared()


_PREPARING = threading.Lock()


@once
def _prepared() -> None:
    """Set one core per request, import what is otherwise imported late, and make garbage collections short.

    Without the early imports, Plotly could find a pandas that another thread has only half imported when many sessions
    come at once. A full collection over the objects of torch and plotly takes a tenth of a second, holding everybody
    up. Frozen, they are not looked at again.
    """
    limit_onednn_cache()
    return_large_blocks()
    torch.set_num_threads(1)
    sys.setswitchinterval(SWITCH_SECONDS)
    for module in ("pandas", "pyarrow"):
        import_module(module)
    go.Figure(go.Heatmap(z=[[0.0]])).to_json()
    sweep_forever()
    gc.collect()
    gc.freeze()


def sweep_forever() -> None:
    """Start the thread that sweeps."""

    def sweep() -> None:
        while True:
            time.sleep(SWEEP_SECONDS)
            cache.sweep()
            JOBS.sweep()
            try:
                forget_sessions(get_instance())
            except (AttributeError, RuntimeError):  # another Streamlit, or one that is ending
                log.debug("sessions are left to Streamlit", exc_info=True)
            gc.collect()
            release_freed_memory()

    threading.Thread(target=sweep, daemon=True, name="sweep").start()
