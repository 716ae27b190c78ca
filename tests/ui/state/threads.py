"""Threads that take turns with a model, as the pages of several visitors do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ui.state.jobs import Job
from ui.state.queue import Turns


def taking_turn(queue: Turns, act: Callable[[], object] = lambda: None) -> Callable[[], None]:
    """Return a function that waits for its turn and has `act` done in it."""

    def wait_and_act() -> None:
        with queue.turn():
            act()

    return wait_and_act


def start_threads(*acts: Callable[[], object]) -> list[threading.Thread]:
    """Start each act in a thread of its own, one after the other."""
    threads = [threading.Thread(target=act, daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    return threads


def until(condition: Callable[[], bool], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.002)


def finish(job: Job[Any]) -> Job[Any]:
    """Wait until a job is done; return it."""
    until(lambda: job.done, seconds=30)
    return job


def join_threads(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive(), "it waits for ever"
