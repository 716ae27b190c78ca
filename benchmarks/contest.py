"""Contestants that train: each is a process of its own, which answers one request at a time while the others wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT
from headlight.runs.steer import worker_environment

THREADS = 2
JOEYNMT_AT = ROOT / ".venv-joeynmt" / "bin" / "python"  # where `make bench` installs it
NO_JOEYNMT = (
    "JoeyNMT does not take part: install requirements/joeynmt.txt into an environment of its own, "
    "and name its interpreter with --joeynmt."
)

Answer = Callable[..., Any]


class Contestant:
    """The process of `python -m MODULE ARGUMENTS`. Raises ValueError with its message where it cannot take part.

    Every contestant that trains gets the environment of our own workers, so that only the networks are compared.
    """

    def __init__(self, module: str, *arguments: object, trains: bool, python: Path | str = sys.executable) -> None:
        threads = worker_environment(THREADS) if trains else {"OMP_NUM_THREADS": str(THREADS)}
        self.process = subprocess.Popen(
            [str(python), "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **threads},
        )
        self.facts: Any = self._read()

    def ask(self, name: str, *values: object) -> Any:
        """Return the result of the process's function `name` for these values."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *values]) + "\n")
        self.process.stdin.flush()
        return self._read()

    def round(self, *values: object) -> Callable[[], float]:
        """Return the task that asks for the next round."""
        return lambda: float(self.ask("round", *values))

    def _read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ValueError(f"{' '.join(map(str, self.process.args))} ended: see above.")  # type: ignore[arg-type]
        answer = json.loads(line)
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer["answer"]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()


@contextmanager
def contest() -> Iterator[dict[str, Contestant]]:
    """Yield a dictionary for contestants by name; their processes end with the block."""
    contestants: dict[str, Contestant] = {}
    try:
        yield contestants
    finally:
        for contestant in contestants.values():
            contestant.end()


def compete(name: str, make: Callable[[], tuple[Any, Mapping[str, Answer]]]) -> None:
    """Run a contestant's process: print what `make` reports of it, then answer requests until its input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # so that what a library prints is not taken for an answer
    try:
        facts, functions = make()
    except (ImportError, ValueError) as error:
        answers.write(json.dumps({"refused": f"{name} cannot take part: {error}"}) + "\n")
        return
    answers.write(json.dumps({"answer": facts}) + "\n")
    for line in sys.stdin:
        function_name, *values = json.loads(line)
        answers.write(json.dumps({"answer": functions[function_name](*values)}) + "\n")


def interpreter(python: Path | None, usual: Path, absent: str) -> Path | None:
    """Return the interpreter that has a peer: `python`, else the `usual` one; print `absent` where there is none.

    Raises ValueError where `python` is not a file.
    """
    if python is not None and not python.is_file():
        raise ValueError(f"There is no interpreter {python}.")
    python = python or (usual if usual.is_file() else None)
    if python is None:
        print(absent, flush=True)
    return python


def joeynmt(python: Path | None) -> Path | None:
    return interpreter(python, JOEYNMT_AT, NO_JOEYNMT)
