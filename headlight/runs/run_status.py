"""What a run is doing, and what to do about it.

The worker writes its state, its process and the deadline of its next heartbeat to `status.json`. A reader trusts a
final state; any other state counts only while that process is alive.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import psutil

from headlight.formatting import error_message
from headlight.runs import intact
from headlight.runs.folder import CORPUS_FILES, RunFolder
from transformer.files import open_regular, read_json, write_json
from transformer.quoting import short

State = Literal[
    "queued", "running", "paused", "stopped", "finished", "crashed", "stalled", "diverged", "out of disk"
]  # fmt: skip
ALIVE_STATES = ("queued", "running", "stalled")
ENDED_STATES = ("paused", "stopped", "finished", "crashed", "diverged", "out of disk")  # written by the worker

MIN_FREE_BYTES = 64 * 1024  # on a disk with less, a crash counts as "out of disk"
CHUNK_BYTES = 1 << 20
REPAIRS_FIELD = "mended"  # the repairs in status.json
MAX_STATUS_NUMBER = 10**12  # the largest number that a status may have
MAX_CLOCK_DRIFT_SECONDS = 3.0  # process start times shift when the system clock is set

_ADVICE = {
    "queued": "",
    "running": "",
    "paused": "Resume it to go on from here.",
    "stopped": "Resume it to go on from here.",
    "finished": "Open its best checkpoint, or train it for longer.",
    "crashed": "Read the last lines of the log, then resume it.",
    "stalled": "It may only be slow. If it stays so, end the worker and resume the run.",
    "diverged": "Start again with a lower learning rate, a longer warm-up or stronger gradient clipping.",
    "out of disk": "Free some disk space, then resume it.",
}
_ADVICE_WITH_BEST = {  # where a checkpoint was scored
    "stopped": "Resume it to go on from here, or open its best checkpoint.",
    "diverged": "Start again from its best checkpoint with a lower learning rate, a longer warm-up or "
    "stronger gradient clipping.",
}


@dataclass(frozen=True)
class Status:
    """The state of a run with its `cause` and `advice`, sentences or empty; times are in seconds since 1970, or None.

    `repairs` lists what the latest worker repaired, and `damaged` what is damaged now, as far as a quick check shows.
    """

    name: str
    folder: Path
    state: State
    step: int = 0
    steps: int = 0
    doing: str = ""  # "training", "evaluating", "reading the corpus", ...
    cause: str = ""
    advice: str = ""
    seconds_left: float | None = None
    heartbeat: float | None = None
    started: float | None = None
    saved: float | None = None  # when the last checkpoint was written, at `saved_step`
    saved_step: int | None = None
    pid: int | None = None
    log: list[str] = field(default_factory=list, repr=False)
    repairs: list[str] = field(default_factory=list, repr=False)
    damaged: list[str] = field(default_factory=list, repr=False)

    @property
    def alive(self) -> bool:
        """Whether there is a worker."""
        return self.state in ALIVE_STATES


def status(path: str | Path) -> Status:
    """Return the status of a run. Raises ValueError where there is no run in the folder."""
    folder = RunFolder(path)
    if not os.path.isdir(folder.path):
        raise ValueError(f"There is no run in {short(path)}.")
    try:
        return _status(folder)
    except OSError as error:
        advice = "Check the permissions of its folder, and whether its disk responds."
        return Status(folder.name, folder.path, "crashed", cause=error_message(error), advice=advice)


def _status(folder: RunFolder) -> Status:
    values = read(folder)
    state, cause = _judge(values)
    if state == "crashed" and values.get("state") not in ENDED_STATES and (reread := read(folder)) != values:
        values = reread  # the worker ended between the two reads
        state, cause = _judge(values)
    if state == "stalled" and process(values) is None and folder.is_free():  # the worker's machine is gone
        state, cause = "crashed", "The worker ended without a message, and so did its machine."
    if state == "crashed" and shutil.disk_usage(folder.path).free < MIN_FREE_BYTES:  # too little to report it
        state, cause = "out of disk", "The disk is full."
    doing = str(values.get("doing", ""))
    if request := folder.request():
        doing = {"pause": "pausing", "stop": "stopping"}.get(request, doing)
    steps = folder.steps()
    damaged = [] if state in ALIVE_STATES else _damaged(folder, steps, values)  # a worker may be replacing these files
    saved = folder.checkpoint(steps[-1]) / "training.json" if steps else None
    return Status(
        folder.name,
        folder.path,
        state,
        step=_whole_number(values, "step") or (steps[-1] if steps else 0),
        steps=_whole_number(values, "steps") or _planned_steps(folder),
        doing=doing if state in ALIVE_STATES else "",
        cause=cause,
        advice=_advice(folder, state, steps, bool(damaged)),
        seconds_left=_number(values, "seconds_left") if state == "running" else None,
        heartbeat=_number(values, "heartbeat"),
        started=_number(values, "started"),
        saved=saved.stat().st_mtime if saved and saved.exists() else None,
        saved_step=steps[-1] if steps else None,
        pid=_whole_number(values, "pid") or None,
        log=folder.last_lines(),
        repairs=repairs(values),
        damaged=damaged,
    )


def statuses(root: str | Path) -> list[Status]:
    """Return the status of every run under `root`, the latest first."""
    listed = []
    for path in Path(root).glob("[!.]*"):
        with contextlib.suppress(ValueError):  # the run was deleted meanwhile
            if RunFolder(path).is_run():
                listed.append(status(path))
    return sorted(listed, key=lambda run: run.started or 0.0, reverse=True)


def _damaged(folder: RunFolder, steps: list[int], values: dict[str, Any]) -> list[str]:
    """Return a sentence for everything that is wrong in the folder at a first look.

    Metrics that were lost before the latest worker began are not counted: that worker reported them.
    """
    damages = [f"{path.relative_to(folder.path)} {wrong}." for path, wrong in folder.wrong_kinds().items()]
    damages += [f"{name} in checkpoints/ is damaged: {wrong}." for name, wrong in folder.damaged().items()]
    if not steps:  # without a checkpoint, corpus and metrics are not needed
        return damages
    if wrong := intact.flaw(folder.data, CORPUS_FILES):
        damages.append(f"The corpus in data/ is damaged: {wrong}.")
    lost = steps[-1] - _count_lines(folder)
    if lost > _whole_number(values, "lost_lines"):
        damages.append(f"{folder.metrics.name} lacks {lost:,} of the {steps[-1]:,} steps.")
    return damages


def _count_lines(folder: RunFolder) -> int:
    try:
        with open_regular(folder.metrics) as file:
            stat = os.fstat(file.fileno())
        return _lines(folder.metrics, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError):
        return 0


@lru_cache(1000)  # a page asks about the same files every two seconds
def _lines(path: Path, mtime: int, size: int) -> int:
    with open_regular(path) as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(CHUNK_BYTES), b""))


def _judge(values: dict[str, Any]) -> tuple[State, str]:
    """Return the state and its cause, from what is certain to what is likely."""
    stored_state, host, deadline = values.get("state"), values.get("host"), _number(values, "due")
    if stored_state in ENDED_STATES:
        return stored_state, str(values.get("cause", ""))
    if stored_state not in ("queued", "running") or deadline is None or not isinstance(host, str):
        return "crashed", "Its status is missing or damaged, or the run was never begun."
    if host == platform.node() and process(values) is None:
        code = _exit_code(_whole_number(values, "pid"))
        if code is not None and code < 0:
            return "crashed", f"The worker was ended by signal {-code}."
        cause = "The worker ended without a message: it was killed, ran out of memory, or the machine stopped."
        return "crashed", cause
    now = time.time()
    if now > deadline:
        silence = now - (_number(values, "heartbeat") or deadline)
        return "stalled", f"The worker has not reported for {silence:,.0f} seconds."
    return ("queued" if stored_state == "queued" else "running"), ""


def _advice(folder: RunFolder, state: State, steps: list[int], damaged: bool) -> str:
    if state == "crashed" and not steps and not damaged:
        return "Read the last lines of the log, then resume it: there is no checkpoint yet, so it begins at step 0."
    if damaged and state != "diverged":
        resumption = f"it goes on from step {steps[-1]:,}" if steps else "its log says what can still be done"
        return f"Resume it: what is damaged is set aside, and {resumption}."
    if state == "finished" and not steps:  # a run of an older version
        return "Open its best checkpoint."
    if state in _ADVICE_WITH_BEST and folder.trained():
        return _ADVICE_WITH_BEST[state]
    return _ADVICE[state]


def _planned_steps(folder: RunFolder) -> int:
    """Return the number of steps of a run whose status does not say it."""
    try:
        return folder.recipe().training.steps
    except ValueError:
        return 0


def process(values: dict[str, Any]) -> psutil.Process | None:
    """Return the worker that wrote these values, if it is alive: the process with that id and start time."""
    try:
        candidate = psutil.Process(int(values["pid"]))
        same = abs(candidate.create_time() - float(values["created"])) < MAX_CLOCK_DRIFT_SECONDS
        return candidate if same and candidate.status() != psutil.STATUS_ZOMBIE else None
    except (psutil.Error, KeyError, TypeError, ValueError, OverflowError):
        return None


def identify_process(pid: int | None = None) -> dict[str, Any]:
    """Return the id and start time by which `process` finds a process; by default this one."""
    identified = psutil.Process(pid)
    return {"pid": identified.pid, "created": identified.create_time(), "host": platform.node()}


children: dict[int, subprocess.Popen[bytes]] = {}  # the workers that this process started, by process id


def _exit_code(pid: int) -> int | None:
    """Return the exit code of a worker that this process started; None for other workers and while it runs."""
    if (child := children.get(pid)) is None:
        return None
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)  # its last thread may end a moment later
    return child.returncode


def write(folder: RunFolder, values: dict[str, Any]) -> None:
    """Write the status. Windows refuses to replace a file that is being read, so writing is retried for a second."""
    until = time.monotonic() + 1.0
    while True:
        try:
            return write_json(folder.status, values)
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.02)


def read(folder: RunFolder) -> dict[str, Any]:
    """Read what the worker wrote last; empty where there is no such file or it is damaged."""
    try:
        values = read_json(folder.status)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _whole_number(values: dict[str, Any], name: str) -> int:
    value = values.get(name)
    return value if type(value) is int and 0 <= value <= MAX_STATUS_NUMBER else 0


def _number(values: dict[str, Any], name: str) -> float | None:
    value = values.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= MAX_STATUS_NUMBER:
        return None
    return float(value)


def repairs(values: dict[str, Any]) -> list[str]:
    """Return the sentences about what was repaired."""
    value = values.get(REPAIRS_FIELD)
    return [str(text) for text in value] if isinstance(value, list) else []
