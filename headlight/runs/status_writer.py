"""A worker's reports: its heartbeat in status.json, and lines in the log."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

from headlight.runs.folder import RunFolder
from headlight.runs.run_status import REPAIRS_FIELD, State, identify_process, read, repairs, write
from transformer.training.processes import is_distributed

RESERVE_BYTES = 64 * 1024  # freed at the end, so that the worker can report that the disk is full


class StatusWriter:
    """Write the status and the log of a run. Only the first of its processes writes; the others are `silent`."""

    def __init__(self, folder: RunFolder, silent: bool = False) -> None:
        self.folder, self.silent = folder, silent
        self.values: dict[str, Any] = {}
        if not silent:
            before = read(folder)
            started = before.get("started", time.time())
            self.values = {**identify_process(), "state": "running", "started": started, "heartbeat": 0.0}
            if before.get("state") == "queued":  # by the launcher of this worker
                for text in repairs(before):
                    self.report_repair(text)

    def begin(self, steps: int) -> None:
        """Write the first heartbeat, once signals are handled."""
        if not self.silent:
            self.folder.reserve.write_bytes(bytes(RESERVE_BYTES))
        self.heartbeat("preparing", 600.0, steps=steps)

    def log(self, text: str) -> None:
        """Append a line to log.txt, and print it where several processes train in a terminal."""
        if self.silent:
            return
        with contextlib.suppress(OSError), open(self.folder.log, "a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n")
        if is_distributed():
            print(text, file=sys.stderr, flush=True)

    def report_repair(self, text: str) -> None:
        """Add a sentence about what was damaged and what was done to the log and the status."""
        self.log(text)
        self.values.setdefault(REPAIRS_FIELD, []).append(text)

    def heartbeat(self, doing: str, deadline_seconds: float, **values: Any) -> None:
        """Write what the worker is doing, and that the next heartbeat is due in `deadline_seconds`.

        While the activity stays the same, at most one heartbeat per second is written.
        """
        now = time.time()
        is_recent = doing == self.values.get("doing") and now - self.values["heartbeat"] < 1.0
        if self.silent or is_recent:
            return
        self.values |= {"doing": doing, "heartbeat": now, "due": now + deadline_seconds, **values}
        write(self.folder, self.values)

    def end(self, state: State, cause: str = "") -> None:
        """Write the final state with its cause, and free the reserved space."""
        if self.silent:
            return
        self.log(f"{state.capitalize()}. {cause}".strip())
        self.folder.reserve.unlink(missing_ok=True)
        self.folder.control.unlink(missing_ok=True)
        self.values |= {"state": state, "cause": cause, "heartbeat": time.time(), "seconds_left": None}
        write(self.folder, self.values)
