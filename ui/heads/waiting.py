"""Measurements in progress: how far they are, and why there are none."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import streamlit as st

from ui.state.jobs import JOBS, UNSEEN_SECONDS, Job
from ui.state.public import without_places
from ui.widgets.fragments import own_fragment
from ui.widgets.text import literal

UPDATE_SECONDS = 0.4  # between two updates of the progress
READING_SECONDS = 1.5  # seconds in which cached results are read, so that no progress bar flashes up
KEEP_ALIVE_SECONDS = UNSEEN_SECONDS / 5  # between two marks of a measurement as shown by an open page
NAMES = {
    "heads": "Measuring every head",
    "history": "Measuring the snapshots",
    "slices": "Scoring translations",
    "sets": "Removing heads in order of importance",
}


def result_of(
    job: Job[Any], kind: str, request: Hashable, draw_meanwhile: Callable[[], object] = lambda: None
) -> Any:
    """Return the result of a measurement; None, after drawing its progress or its error, where there is none yet."""
    wait(job)
    if not job.done:
        draw_meanwhile()
        at_work(job, kind, request)
        return None
    if job.error is not None:
        failed(kind, request, job.error)
    return job.result


def wait(job: Job[Any]) -> None:
    until = time.monotonic() + READING_SECONDS
    while not job.done and job.share == 0 and time.monotonic() < until:
        time.sleep(0.02)


def at_work(job: Job[Any], kind: str, request: Hashable) -> None:
    """Draw how far a measurement is; when it is done, the page is redrawn."""
    own_fragment(_progress, job, kind, request, run_every=UPDATE_SECONDS)


def _progress(job: Job[Any], kind: str, request: Hashable) -> None:
    if job.done:
        st.rerun()
    JOBS.keep_alive(kind, request)
    st.progress(job.share, f"{NAMES[kind]}: {job.doing}" if job.doing else NAMES[kind])


def mark_in_use(requests: Mapping[str, Hashable]) -> None:
    """Mark measurements, {kind: request}, as in use for as long as the page is open, even if nobody clicks on it."""
    own_fragment(_keep_alive, requests, run_every=KEEP_ALIVE_SECONDS)


def _keep_alive(requests: Mapping[str, Hashable]) -> None:
    for kind, request in requests.items():
        JOBS.keep_alive(kind, request)


def failed(kind: str, request: Hashable, error: Exception) -> None:
    if isinstance(error, ValueError | OSError):
        st.info(explanation(error), icon=":material/info:")
    else:
        st.error(explanation(error), icon=":material/error:")
    key = f"{kind}-again"
    st.button("Try again", icon=":material/refresh:", key=key, on_click=JOBS.drop, args=(kind, request))


def explanation(error: Exception) -> str:
    """Return the text of an error that the user can act on; any other was logged, and the text says so."""
    if isinstance(error, ValueError | OSError):
        return literal(without_places(str(error)))
    return "Something went wrong here. The log has the details."
