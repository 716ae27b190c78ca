"""The worker: one process that trains the run in a folder from its latest checkpoint to its end.

A new run first gets its vocabulary, its corpus as token ids and a checkpoint of step 0, and then resumes from that.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from headlight.formatting import error_message, file_size
from headlight.machine import threads
from headlight.runs.folder import RunFolder
from headlight.runs.preparing import prepare
from headlight.runs.repair import repair
from headlight.runs.run_status import State
from headlight.runs.session import PauseOrStop, WorkerSession
from headlight.runs.status_writer import StatusWriter
from transformer.training.loop import Diverged
from transformer.training.processes import Processes

DISK_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no space, quota exceeded, file too large


def work(path: str | Path) -> State:
    """Train the run in the folder, and return the state in which it ended.

    Raises ValueError where there is no run in it, or another process is working there.
    """
    folder = RunFolder(path)
    with Processes.join() as processes:
        recipe = folder.recipe()
        # The launcher and the previous worker may hold the lock a moment longer.
        with folder.locked(patience=10.0) if processes.first else contextlib.nullcontext():
            if processes.count == 1:  # a launcher assigns cores to several processes
                torch.set_num_threads(threads(recipe.threads))
            repairs = folder.set_aside_wrong_kinds() if processes.first else []
            writer = StatusWriter(folder, silent=not processes.first)
            for text in repairs:
                writer.report_repair(text)
            state, cause = _outcome(folder, lambda: _train(folder, processes, writer))
            writer.end(state, cause)
    return state


def _train(folder: RunFolder, processes: Processes, writer: StatusWriter) -> str:
    signals = Signals()
    with signals.caught():
        writer.begin(folder.recipe().training.steps)
        if processes.first:
            with signals.at_once(lambda: PauseOrStop(folder.request() or "pause")):
                repair(folder, writer)
                if not folder.steps():
                    prepare(folder, writer)
        processes.wait()
        session = WorkerSession(folder, processes, writer)
        with contextlib.closing(session):
            return session.train(lambda: _request(folder, processes, signals))


def _request(folder: RunFolder, processes: Processes, signals: Signals) -> str | None:
    """Return "pause" or "stop" if any of the processes received that request, else None."""
    request = folder.request() if processes.first else None
    request = request or ("pause" if signals.received else None)
    if processes.count == 1:
        return request
    votes = processes.sum({None: 0.0, "pause": 1.0, "stop": 1000.0}[request])
    return "stop" if votes >= 1000.0 else "pause" if votes else None


class Signals:
    """Handle SIGTERM and SIGINT: the training checks `received` between steps; `at_once` raises an error instead."""

    def __init__(self) -> None:
        self.received = False
        self._error: Callable[[], BaseException] | None = None

    @contextlib.contextmanager
    def caught(self) -> Any:
        before = {number: signal.signal(number, self._note) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def at_once(self, error: Callable[[], BaseException]) -> Any:
        self._error = error
        try:
            if self.received:
                raise error()
            yield
        finally:
            self._error = None

    def _note(self, number: int, frame: Any) -> None:
        self.received = True
        if self._error is not None:
            raise self._error()


def _outcome(folder: RunFolder, train: Callable[[], str]) -> tuple[State, str]:
    """Run `train`, and return the state in which it ended and the cause, whatever it raised."""
    try:
        return "finished", train()
    except PauseOrStop as request:
        return ("stopped" if request.args[0] == "stop" else "paused"), ""
    except Diverged as error:
        return "diverged", str(error)
    except Exception as error:
        if _disk_is_full(error):
            if not folder.steps():
                shutil.rmtree(folder.data, ignore_errors=True)
            free = shutil.disk_usage(folder.path).free
            return "out of disk", f"Nothing more can be written: {file_size(free)} are free on the disk."
        if not isinstance(error, ValueError):  # a ValueError is a message for people
            traceback.print_exc()
        return "crashed", (error_message(error).strip().splitlines() or [type(error).__name__])[0][:300]


def _disk_is_full(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_FULL_ERRORS:
            return True
        if any(f"(os error {number})" in str(error) for number in DISK_FULL_ERRORS):  # the message of safetensors
            return True
        error = error.__cause__ or error.__context__
    return False
