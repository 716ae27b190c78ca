"""What a worker says: a heartbeat into status.json, sentences into the log."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

from headlight.runs.folder import RunFolder
from headlight.runs.run_status import State, read, texts, this_process, write
from transformer.training.processes import several

RESERVE = 64 * 1024  # bytes kept on the disk, so that a full one leaves room to say so


class Speaker:
    """Speaks for the first of the processes that train a run; the others are silent."""

    def __init__(self, folder: RunFolder, silent: bool = False) -> None:
        self.folder, self.silent = folder, silent
        self.values: dict[str, Any] = {}
        if not silent:
            before = read(folder)
            started = before.get("started", time.time())
            self.values = {**this_process(), "state": "running", "started": started, "heartbeat": 0.0}
            for text in texts(before, "mended") if before.get("state") == "queued" else ():
                self.mended(text)  # what stood in the way of whoever launched this worker

    def begin(self, steps: int) -> None:
        """The first word, once a signal is no longer deadly."""
        if not self.silent:
            self.folder.reserve.write_bytes(bytes(RESERVE))
        self.beat("preparing", 600.0, steps=steps)

    def say(self, text: str) -> None:
        if self.silent:
            return
        with contextlib.suppress(OSError), open(self.folder.log, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n")
        if several():  # in somebody's terminal
            print(text, file=sys.stderr, flush=True)

    def mended(self, text: str) -> None:
        """Says what was found damaged and what became of it, in the log and in the status of this worker."""
        self.say(text)
        self.values.setdefault("mended", []).append(text)

    def beat(self, doing: str, within: float = 60.0, **values: Any) -> None:
        """Says what is done, that it goes on, and within how many seconds there will be another word."""
        now = time.time()
        often = doing == self.values.get("doing") and now - self.values["heartbeat"] < 1.0
        if self.silent or often:
            return
        self.values |= {"doing": doing, "heartbeat": now, "due": now + within, **values}
        write(self.folder, self.values)

    def end(self, state: State, cause: str = "") -> None:
        """The last word."""
        if self.silent:
            return
        self.say(f"{state.capitalize()}. {cause}".strip())
        self.folder.reserve.unlink(missing_ok=True)
        self.folder.control.unlink(missing_ok=True)
        self.values |= {"state": state, "cause": cause, "heartbeat": time.time(), "seconds_left": None}
        write(self.folder, self.values)
