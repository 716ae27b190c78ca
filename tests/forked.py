"""Processes forked from one that has imported what they need: they start in milliseconds rather than seconds."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.serving import serve

# Nothing of ui/: it reads the environment when it is imported, and that differs from process to process.
_IMPORTED = [
    "headlight.runs.worker",
    "torch._dynamo",  # the optimizer imports it
    "headlight.importers.importing",
    "headlight.charts",
    "streamlit.web.cli",
    "streamlit.web.bootstrap",
    "pandas",
    "plotly.io",
]


def forked(target: Callable[..., object], *arguments: object) -> BaseProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    process = context.Process(target=target, args=arguments)
    # A new process would run the main module again, and Streamlit's AppTest leaves its script there.
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        process.start()
    finally:
        sys.modules["__main__"] = main
    return process


class Forked:
    """`streamlit run` as `subprocess.Popen` would start it, in a folder; its output goes to `log`."""

    def __init__(self, arguments: list[str], folder: Path, log: Path) -> None:
        self._process = forked(_streamlit, arguments, folder, log, dict(os.environ))

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("streamlit", timeout or 0)
        return self._process.exitcode


serve_forked = partial(serve, start=Forked)


def _streamlit(arguments: list[str], folder: Path, log: Path, environment: Mapping[str, str]) -> Any:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # What Python finds first, as with `python -m streamlit`.
    sys.path[:0] = [str(folder), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["streamlit", *arguments]
    from streamlit.web.cli import main

    main()
