"""Memory of the server before, during and after huge requests, and which part of the process holds it.

Sessions that speak Streamlit's protocol open the app; then one after the other asks for the longest sentence with the
widest beam on the Decoding page and leaves; then nobody visits. The operating system reports the size of the process.
The process itself reports malloc's used and free memory, the size of the caches, and the number of sessions, through a
socket that a `sitecustomize` module opens, which Python runs before anything else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.browser import sentences
from benchmarks.busy import Busy
from benchmarks.measure import ROOT, keep, machine, megabytes_dot, table
from benchmarks.pupils import MODEL, Register, huge, server_of
from headlight.checkpoints import load_translator
from tools import production
from tools.serving import serve
from tools.streamlit_client import open_session

N_VISITORS = 8  # before the huge requests, each with a sentence of 20 tokens
# Seconds until closed sessions are gone and their memory is swept, and until caches are dropped.
AFTER_CLOSING, AFTER_RESTING = 100.0, 700.0
MAX_GROWTH = 1.2
# Runs in the server. Memory is in bytes. What is free in malloc's lists counts whether or not the system has it back.
MEMORY_SERVER = """
import ctypes, json, os, socket, sys, threading
NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()  # malloc.h
Statistics = type("Statistics", (ctypes.Structure,), {"_fields_": [(name, ctypes.c_size_t) for name in NAMES]})
mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Statistics

def figures():
    malloc, modules = mallinfo2(), sys.modules
    caches = getattr(modules.get("ui.state.cache"), "_CACHES", ())
    runtime = getattr(modules.get("streamlit.runtime.runtime"), "Runtime", None)
    return {
        "malloc, in use": malloc.uordblks + malloc.hblkhd,
        "malloc, free": malloc.fordblks,
        "caches": sum(values.weight for values in caches),
        "sessions": len(runtime._instance._session_mgr.list_sessions()) if runtime and runtime._instance else 0,
    }

def answer():
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(os.environ["HEADLIGHT_FIGURES"])
        place.listen()
        while True:
            with place.accept()[0] as asked:
                asked.sendall(json.dumps(figures()).encode())

if "streamlit" in sys.orig_argv:  # not in what the server starts
    threading.Thread(target=answer, daemon=True).start()
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--huge", type=int, default=12, help="huge requests")
    parser.add_argument("--rested", type=float, default=AFTER_RESTING, help="seconds without a visitor at the end")
    parser.set_defaults(run=run)


def run(huge: int, rested: float) -> None:
    """Measure, print and write everything. Raises ValueError where a request was not answered."""
    busy = Busy()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(MEMORY_SERVER)
        socket_path = Path(folder) / "figures"
        os.environ |= {**production.environment(), "PYTHONPATH": folder, "HEADLIGHT_FIGURES": str(socket_path)}
        with serve(ROOT / "app.py", Path(folder) / "log.txt", more=production.options()) as url:
            server = ObservedServer(url, socket_path)
            errors = asyncio.run(_visit(url, server, huge, rested))
    if errors:
        raise ValueError(f"{len(errors)} requests went wrong: {errors[0]}")
    first = server.stages["visited"]["process"]
    for stage in server.stages.values():
        # Without the caches, which are meant to stay, the process should return to its size before the requests.
        stage["times"] = (stage["process"] - stage["caches"]) / first
    heads = ["", *(f"{name}, MB" for name in ("process", "malloc, in use", "malloc, free", "caches"))]
    rows = [
        (name, *(f"{stage[head.removesuffix(', MB')] / 2**20:,.0f}" for head in heads[1:]), f"{stage['sessions']:.0f}")
        for name, stage in server.stages.items()
    ]
    print(table([*heads, "sessions"], rows))
    print(f"\nAt most {server.most / 2**20:,.0f} MB.")
    result: dict[str, Any] = {"machine": machine("torch", "streamlit"), "huge": huge, "most": server.most}
    result["busy"] = busy.shares_since_begin()
    dots = [
        megabytes_dot(name, stage["process"] / 2**20, MAX_GROWTH * first / 2**20)
        for name, stage in server.stages.items()
    ]
    keep("returned", result | {"stages": server.stages}, "After huge requests", {"Memory of the server": dots})


class ObservedServer:
    """The server process, observed from outside and from inside."""

    def __init__(self, url: str, socket_path: Path):
        self.process, self.socket_path = server_of(url), str(socket_path)
        self.stages: dict[str, dict[str, float]] = {}
        self.most = 0.0  # bytes
        threading.Thread(target=self._look, daemon=True).start()

    def note(self, stage: str) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.socket_path)
            figures = json.loads(connection.makefile().read())
        self.stages[stage] = {"process": float(self.process.memory_info().rss), **figures}

    def _look(self) -> None:
        while self.process.is_running():
            self.most = max(self.most, float(self.process.memory_info().rss))
            time.sleep(0.1)


async def _visit(url: str, server: ObservedServer, count: int, rested: float) -> list[str]:
    model, register = load_translator(ROOT / "checkpoints" / MODEL), Register()
    texts = sentences(model, 20)
    for _ in range(N_VISITORS):
        async with open_session(url, model=MODEL, text=next(texts), layer="1", head="1") as page:
            await page.run()
            await page.choose(1, 2)
            await page.type(next(texts))
    server.note("visited")
    asking = asyncio.create_task(huge(url, model, register))
    while len(register.huge) < count and not asking.done():
        await asyncio.sleep(0.1)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    server.note("the last huge request answered")
    await asyncio.sleep(AFTER_CLOSING)
    server.note(f"{AFTER_CLOSING:.0f} s later")
    await asyncio.sleep(max(rested - AFTER_CLOSING, 0))
    server.note(f"{rested:.0f} s later")
    return register.errors
