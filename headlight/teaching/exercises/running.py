"""Run a student's file, an arbitrary program, in a process of its own with a time limit."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from headlight.folders import ROOT
from headlight.teaching.exercises.exercise import MESSAGES_FILE, STACK_FILE, ExerciseState, Verdict
from transformer.access import require_private
from transformer.quoting import short

TIME_LIMIT_SECONDS = 20.0  # for loading the file, and for each exercise


def check(path: str | Path, seconds: float = TIME_LIMIT_SECONDS) -> list[Verdict]:
    """Return a verdict for each exercise of the file, in the order in which they build on each other.

    An exercise that takes longer than `seconds` is stopped. Raises ValueError where the file is not there, does not
    run, or has none of the exercises.
    """
    require_private()
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{short(path)} is not a file; give the script with your solution, such as attend.py.")
    path = path.resolve()
    verdicts: list[Verdict] = []
    while True:  # a crash or a hang fails only its own exercise: the next process goes on with the others
        lost = _run(path, seconds, verdicts)
        if lost is None:
            return verdicts
        verdicts.append(lost)


def _run(path: Path, seconds: float, verdicts: list[Verdict]) -> Verdict | None:
    """Judge the exercises that have no verdict yet; return the verdict on one that ended the process, or None."""
    with TemporaryDirectory() as folder:
        judged = [verdict.name for verdict in verdicts]
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        ended = subprocess.run(
            [sys.executable, "-m", "headlight.teaching.exercises.child", str(path), folder, str(seconds), *judged],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )
        message_file, stuck = Path(folder, MESSAGES_FILE), Path(folder, STACK_FILE)
        begun, is_complete = "", False
        for line in message_file.read_text(encoding="utf-8").splitlines() if message_file.exists() else []:
            match json.loads(line):
                case {"refused": str(reason)}:
                    raise ValueError(reason)
                case {"ended": True}:
                    is_complete = True
                case {"begun": str(name)}:
                    begun = name
                case {"verdict": {"name": str(name), "state": str(state), "messages": list(messages)}}:
                    verdicts.append(Verdict(name, ExerciseState(state), tuple(messages)))
                    begun = ""
        if is_complete:
            return None
        stack = stuck.read_text("utf-8", "replace") if stuck.exists() else ""
        explanation = _explain_end(stack, seconds, ended.returncode, path)
        if not begun:
            raise ValueError(f"{short(path.name)} did not get to its exercises. {explanation}")
        return Verdict(begun, ExerciseState.WRONG, (explanation,))


def _explain_end(stuck: str, seconds: float, code: int, path: Path) -> str:
    if stuck:
        lines = re.findall(r'File "(.*)", line (\d+) in (.*)', stuck)
        function = next(
            (
                f"{Path(file).name.removeprefix(path.name).lstrip(', ')} line {line}, in {name}".strip()
                for file, line, name in lines
                if Path(file).name.startswith(path.name)
            ),
            "",
        )
        at = f" When it was stopped it was at {function}." if function else ""
        return f"It took longer than {seconds:g} seconds: does a loop never end?{at}"
    if code < 0:
        name = signal.Signals(-code).name
        return f"It ended the process ({name})" + (
            ": most likely it took all of the memory." if name == "SIGKILL" else "."
        )
    return "It ended the process; leave out what exits."
