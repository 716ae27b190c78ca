"""Start, pause, stop and resume runs, from the app or the command line.

All functions return at once; `status` says whether the worker has started, paused or ended.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

from headlight.folders import ROOT, model
from headlight.machine import threads
from headlight.runs import run_status
from headlight.runs.folder import RunFolder
from headlight.runs.intact import CHECKSUM_FILE, STATE_FILES
from headlight.runs.metrics import require_tensorboard
from headlight.runs.recipe import Recipe
from headlight.runs.repair import corpus_flaw, damaged_checkpoints
from headlight.runs.run_status import Status, status
from transformer.access import require_private
from transformer.files import write_json
from transformer.quoting import short

LAUNCH_SECONDS = 120.0  # the longest time until a worker's first heartbeat


def _lower_priority(worker: int) -> None:
    """Lower the priority of the worker, so that the app answers first where both want the processor."""
    with contextlib.suppress(AttributeError, OSError):  # not on Windows, or the worker has ended already
        os.setpriority(os.PRIO_PROCESS, worker, 10)
    # With autogroups, Linux divides the processor among sessions first, and the niceness above counts within one only.
    with contextlib.suppress(OSError):
        Path(f"/proc/{worker}/autogroup").write_text("10", "utf-8")


def spawn(folder: RunFolder) -> int:
    """Start a worker in a process and session of its own, which outlives this process, and return its process id."""
    with open(folder.log, "ab") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "headlight", "work", str(folder.path.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
            env=environment(folder.recipe()),
        )
    _lower_priority(worker.pid)
    run_status.children[worker.pid] = worker
    Thread(target=worker.wait, daemon=True, name="reap").start()  # without a wait the child would stay a zombie
    return worker.pid


Launcher = Callable[[RunFolder], int]  # starts a worker for the folder, and returns its process id


def start(recipe: Recipe, path: str | Path, launcher: Launcher = spawn) -> RunFolder:
    """Create the run's folder and launch its worker.

    Raises ValueError where the folder exists, or the data cannot be opened; then nothing is left behind.
    """
    folder = claim(recipe, path)
    launch(folder, launcher)
    return folder


def claim(recipe: Recipe, path: str | Path) -> RunFolder:
    """Create the folder of a new run. Raises ValueError where it exists, even if it appeared just now."""
    require_private()
    folder = RunFolder(path)
    exists = f"{short(path)} exists already; choose another name, or delete that run first."
    if folder.path.exists():
        raise ValueError(exists)
    recipe.check()
    if recipe.tensorboard:
        require_tensorboard()
    folder.path.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.path.mkdir()
    except FileExistsError:
        raise ValueError(exists) from None
    try:
        if recipe.start is not None:  # a copy, since the run that it belongs to may remove it
            not_copied = shutil.ignore_patterns(*STATE_FILES, CHECKSUM_FILE, "history", "*.part")
            shutil.copytree(model(recipe.start), folder.start, ignore=not_copied)
        write_json(folder.config, recipe.to_dict())
    except BaseException:
        shutil.rmtree(folder.path)
        raise
    return folder


def launch(folder: RunFolder, launcher: Launcher = spawn) -> None:
    """Launch a worker for the run. Raises ValueError where it has one."""
    require_private()
    steps = folder.recipe().training.steps
    _require_no_worker(folder)
    with folder.locked(patience=5.0):  # the worker waits for the lock, so no other can start meanwhile
        before = _require_no_worker(folder)
        repairs = folder.set_aside_wrong_kinds()
        folder.control.unlink(missing_ok=True)
        now = time.time()
        values = {"state": "queued", "step": before.saved_step or 0, "steps": steps, "started": before.started or now}
        values |= {run_status.REPAIRS_FIELD: repairs} if repairs else {}
        values |= {**run_status.identify_process(launcher(folder)), "heartbeat": now, "due": now + LAUNCH_SECONDS}
        run_status.write(folder, values)


def _require_no_worker(folder: RunFolder) -> Status:
    current = status(folder.path)
    if current.alive:
        raise ValueError(f"{short(folder.path)} is {current.state} already.")
    return current


def environment(recipe: Recipe) -> dict[str, str]:
    """Return the environment of a worker of this recipe."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", **worker_environment(threads(recipe.threads))}


def worker_environment(count: int) -> dict[str, str]:
    """Return the environment variables of a worker: how its threads wait, and how its allocator keeps memory."""
    return {
        "OMP_NUM_THREADS": str(count),
        "GOMP_SPINCOUNT": "5000",  # waiting threads soon sleep: spinning ones would take the cores from the app
        "MALLOC_MMAP_MAX_": "0",  # keep the memory of batches of many sizes instead of returning it
        "MALLOC_TRIM_THRESHOLD_": str(2_000_000_000),
        # oneDNN compiles a kernel for each shape of a bfloat16 product, and caches 1,000 of them with a quarter of a
        # megabyte of scratch memory each; so does ideep, through which torch calls it. Most shapes occur only once.
        "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",
        "LRU_CACHE_CAPACITY": "32",
    }


def pause(path: str | Path) -> None:
    """Ask the worker to write a checkpoint and end. Raises ValueError where the run has no worker."""
    _request(path, "pause")


def stop(path: str | Path) -> None:
    """Ask as `pause` does, for a run that is not meant to go on; it can still be resumed."""
    _request(path, "stop")


def _request(path: str | Path, request: str) -> None:
    require_private()
    folder, current = RunFolder(path), status(path)
    if not current.alive:
        raise ValueError(f"{short(path)} has no worker that could {request}; it is {current.state}.")
    folder.post_request(request)
    values = run_status.read(folder)
    # A worker that is still being launched would die of the signal; it looks for a request before it begins.
    if values.get("state") == "running" and (worker := run_status.process(values)) is not None:
        worker.terminate()


def kill(path: str | Path) -> None:
    """Kill a worker that does not answer; the run can be resumed from its last checkpoint."""
    require_private()
    values = run_status.read(RunFolder(path))
    worker = run_status.process(values)
    if worker is None or not status(path).alive:
        raise ValueError(f"{short(path)} has no worker that could be ended.")
    worker.kill()
    until = time.monotonic() + 10.0
    while run_status.process(values) is not None:
        if time.monotonic() > until:
            raise ValueError(f"The worker of {short(path)} does not end; it may be waiting for the disk.")
        time.sleep(0.02)


def resume(path: str | Path, launcher: Launcher = spawn) -> None:
    """Resume from the last checkpoint, with exactly the numbers of a run that was never interrupted.

    Raises ValueError where the run has a worker, or has finished and there is nothing to repair.
    """
    require_private()
    before = status(path)
    if before.state == "finished" and not _incomplete(before):
        raise ValueError(f"{short(path)} has finished at step {before.step:,}; give it more steps to go on.")
    launch(RunFolder(path), launcher)


def _incomplete(run: Status) -> bool:
    """Return whether a finished run has lost files that resuming needs; runs of older versions never had them."""
    folder = RunFolder(run.folder)
    if run.damaged or run.saved_step is None:
        return bool(run.damaged)
    if run.saved_step < run.step:
        return True
    return bool(damaged_checkpoints(folder) or corpus_flaw(folder, folder.checkpoint(run.saved_step)))


def extend(path: str | Path, steps: int, launcher: Launcher = spawn) -> None:
    """Resume from the last checkpoint until `steps` steps in all.

    Raises ValueError where the run has a worker, has made as many steps, or keeps no state to go on from.
    """
    require_private()
    folder, before = RunFolder(path), status(path)
    if before.alive:
        raise ValueError(f"{short(path)} is {before.state}; pause it first.")
    if before.saved_step is None and before.damaged:
        raise ValueError(f"{short(path)} has no intact checkpoint. {before.advice}")
    if before.saved_step is None:
        raise ValueError(f"{short(path)} keeps no training state to go on from; start a new run from its checkpoint.")
    if steps <= before.saved_step:
        raise ValueError(
            f"steps is {steps}; {short(path)} has made {before.saved_step:,} steps already, so choose more."
        )
    recipe = folder.recipe()
    folder.write_recipe(replace(recipe, training=replace(recipe.training, steps=steps)))
    launch(folder, launcher)


def delete(path: str | Path) -> None:
    """Delete a run's folder. Raises ValueError where the run has a worker, or there is no run in the folder."""
    require_private()
    folder = RunFolder(path)
    folder.recipe()
    with folder.locked():
        if status(path).alive:
            raise ValueError(f"{short(path)} is running; stop it first.")
        deleted = folder.path.with_name(f".{folder.name}.{os.getpid()}.part")
        os.rename(folder.path, deleted)  # a rename is atomic, so nobody sees half a run
    shutil.rmtree(deleted)
