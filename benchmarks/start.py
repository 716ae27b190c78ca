"""Time from starting a program until its first heatmap is painted in an open browser, and its memory.

Ours is `streamlit run app.py`, as `make run` starts it; the page opens as soon as the server answers. The peer is what
one would write instead: a script that loads a Marian of the same size, translates a sentence of as many tokens, and
writes BertViz's `model_view` into a file, which is opened then.

Cold: the files are read from the disk, our own have no bytecode, as after `git clone`, and the browser has nothing in
its cache. Warm: the same was started just before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import BrowserContext, Page, sync_playwright
from playwright.sync_api import TimeoutError as WaitedTooLong

from benchmarks.browser import SCRIPT, serve_scripts
from benchmarks.measure import (
    LONGER,
    MIN_ROUNDS,
    RATIO_HEADING,
    ROOT,
    alternate,
    range_text,
    ratio_text,
    ratios,
    short,
    spread,
    table,
)
from headlight.checkpoints import load_translator
from tools.serving import free_port, launch

# pyproject.toml tells the app that it is in a clone, where its documents and lessons are beside it.
COPIED_PATHS = ("app.py", "pages", "server", "ui", "headlight", "transformer", "docs", "lessons", "pyproject.toml",
         ".streamlit")  # fmt: skip
MODEL = ROOT / "checkpoints" / "en-fr"
DROP_CACHES = Path("/proc/sys/vm/drop_caches")
LIMIT_SECONDS = 120.0  # until a heatmap
OURS_NAME, PEER = "Headlight", "BertViz, a script"
COLD, WARM = "cold", "warm"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS)
    parser.add_argument(
        "--scripts", type=Path, help="folder of require.js, jquery.min.js and d3.min.js, for BertViz's page offline"
    )


@dataclass
class Started:
    """The measurements of a start: milliseconds until each event, seconds of processor time, and megabytes."""

    elapsed: dict[str, float] = field(default_factory=dict)
    processor: float = 0.0
    memory: dict[str, float] = field(default_factory=dict)


def run(rounds: int, scripts: Path | None) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where a peer or its scripts are missing."""
    result: dict[str, Any] = {"rounds": rounds}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder, chromium = Path(name), launch(playwright)
        make_peer(folder / "marian")
        starts: dict[str, Any] = {OURS_NAME: OurApp(folder), PEER: PeerPage(folder, scripts)}
        contexts = {who: chromium.new_context() for who in starts}

        def cold_and_warm(who: str) -> tuple[Started, Started]:
            starts[who].forget()
            result["emptied"] = drop_files([ROOT, folder, *map(Path, sys.path)])
            context = chromium.new_context()
            cold = starts[who](context)
            context.close()
            return cold, starts[who](contexts[who])

        started = alternate(rounds, {who: partial(cold_and_warm, who) for who in starts})
    for at, kind in enumerate((COLD, WARM)):
        result[kind] = summary({who: [pair[at] for pair in pairs] for who, pairs in started.items()})
    return result


# ---- ours -----------------------------------------------------------------------------------------


class OurApp:
    """The app in a copy of the repository."""

    def __init__(self, folder: Path) -> None:
        self.copy_folder, self.port = folder / "headlight", free_port()
        self.log = folder / "log.txt"
        self.forget()
        (folder / "checkpoints").mkdir()
        (folder / "checkpoints" / MODEL.name).symlink_to(MODEL, target_is_directory=True)
        self.environment = {**os.environ, "HEADLIGHT_CHECKPOINTS": str(folder / "checkpoints")}

    def forget(self) -> None:
        """Start from a new copy, which has no bytecode."""
        shutil.rmtree(self.copy_folder, ignore_errors=True)
        self.copy_folder.mkdir()
        for part in COPIED_PATHS:
            copy = partial(shutil.copytree, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
            (copy if (ROOT / part).is_dir() else shutil.copy2)(ROOT / part, self.copy_folder / part)

    def __call__(self, context: BrowserContext) -> Started:
        page = context.new_page()
        page.add_init_script(path=SCRIPT)
        started, begun = Started(), time.perf_counter()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={self.port}"]
        command += ["--server.headless=true", "--server.address=127.0.0.1"]
        with self.log.open("wb") as output:
            server = subprocess.Popen(command, cwd=self.copy_folder, env=self.environment, stdout=output, stderr=output)
        try:
            wait_for_server(server, self.port, self.log)
            started.elapsed["the server answers"] = milliseconds_since(begun)
            page.goto(f"http://127.0.0.1:{self.port}")
            for picture in ("overview", "head"):
                with painted_in_time("Headlight's page"):
                    page.wait_for_function(f"() => painted.{picture}()", polling="raf", timeout=1000 * LIMIT_SECONDS)
                two_frames(page)
                started.elapsed[picture] = milliseconds_since(begun)
            process = psutil.Process(server.pid)
            started.processor = sum(process.cpu_times()[:2])
            memory = process.memory_full_info()
            started.memory = {"RSS": memory.rss / 1e6, "PSS": memory.pss / 1e6}
        finally:
            page.close()
            server.terminate()
            server.wait(20)
        return started


def wait_for_server(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Wait until the port is open. Raises ValueError with the end of the server's log where it does not open."""
    end = time.monotonic() + LIMIT_SECONDS
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise ValueError(f"The app did not start:\n{log.read_text(errors='replace')[-2000:]}")


# ---- the peer -------------------------------------------------------------------------------------


def make_peer(folder: Path) -> None:
    """Write a Marian of our size with random weights, and our tokenizer in its form.

    Raises ValueError without the peers.
    """
    try:
        import bertviz  # type: ignore[import-not-found]  # noqa: F401
        from transformers import PreTrainedTokenizerFast  # type: ignore[import-not-found]
    except ImportError:
        raise ValueError("A peer is not installed: pip install -r requirements/bench.txt") from None
    from benchmarks.peers import Marian

    Marian(dropout=0.1).model.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_file=str(MODEL / "tokenizer.json"), pad_token="[PAD]", eos_token="[EOS]"
    ).save_pretrained(folder)


class PeerPage:
    """The peer's script, and the page that it writes."""

    def __init__(self, folder: Path, scripts: Path | None) -> None:
        self.scripts, self.model, self.page = scripts, folder / "marian", folder / "model_view.html"
        translator = load_translator(MODEL)
        self.text = str(translator.card["examples"][0])  # which our app opens with
        self.tokens = len(translator.translate(self.text).ids)

    def forget(self) -> None:
        self.page.unlink(missing_ok=True)

    def __call__(self, context: BrowserContext) -> Started:
        page = context.new_page()
        if self.scripts is not None:
            serve_scripts(page, self.scripts)
        script = Path(__file__).with_name("start_peer.py")
        command = [sys.executable, str(script), str(self.model), self.text, str(self.tokens), str(self.page)]
        started, begun = Started(), time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise ValueError(f"The peer's script ended with code {process.returncode}; run it: {' '.join(command)}")
        started.elapsed["the page is written"] = milliseconds_since(begun)
        page.goto(self.page.as_uri(), wait_until="commit")
        with painted_in_time("BertViz's page, whose scripts come from the internet or, with --scripts, from a folder,"):
            page.wait_for_selector("#vis line", state="attached", timeout=1000 * LIMIT_SECONDS)
        two_frames(page)
        started.elapsed["overview"] = milliseconds_since(begun)
        started.processor = used.ru_utime + used.ru_stime
        started.memory = {"RSS": used.ru_maxrss / 1e3}
        page.close()
        return started


# ---- both -----------------------------------------------------------------------------------------


def milliseconds_since(begun: float) -> float:
    return 1000 * (time.perf_counter() - begun)


@contextmanager
def painted_in_time(page_name: str) -> Iterator[None]:
    """Raise ValueError where the browser waits longer than LIMIT_SECONDS within."""
    try:
        yield
    except WaitedTooLong:
        raise ValueError(f"{page_name} showed no heatmap within {LIMIT_SECONDS:.0f} s; open it to see why.") from None


def two_frames(page: Page) -> None:
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def drop_files(folders: list[Path]) -> str:
    """Drop files from the system's cache: all of them, or those below these folders; return how it was done."""
    os.sync()  # what is not written yet stays
    try:
        DROP_CACHES.write_text("3\n")
        return "all files of the machine"
    except OSError:
        for folder in folders:
            for path in folder.rglob("*") if folder.is_dir() else []:
                _drop_file(path)
        return "the files of the environment, the repository and the model, where no other process has them open"


def _drop_file(path: Path) -> None:
    if path.is_file() and os.access(path, os.R_OK):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


# ---- the report ---------------------------------------------------------------------------------


def summary(started: dict[str, list[Started]]) -> dict[str, Any]:
    """Summarise the cold or the warm starts, and their ratio, round by round."""
    result: dict[str, Any] = {
        who: {
            "milliseconds": {moment: spread(start.elapsed[moment] for start in starts) for moment in starts[0].elapsed},
            "processor_seconds": spread(start.processor for start in starts),
            "megabytes": {part: spread(start.memory[part] for start in starts) for part in starts[0].memory},
        }
        for who, starts in started.items()
    }
    first = {who: [start.elapsed["overview"] for start in starts] for who, starts in started.items()}
    return result | {"times_longer": ratios(first[PEER], first[OURS_NAME], LONGER)}


NAMES = {"overview": "every head is painted", "head": "and one large"}


def report(result: dict[str, Any]) -> str:
    rows, memory = [], []
    for kind in (COLD, WARM):
        for who in (OURS_NAME, PEER):
            numbers = result[kind][who]
            for moment, took in numbers["milliseconds"].items():
                rows.append([kind, who, NAMES.get(moment, moment), range_text(took)])
            sizes = [f"{name} {short(size['median'])} MB" for name, size in numbers["megabytes"].items()]
            memory.append([kind, who, ", ".join(sizes), f"{numbers['processor_seconds']['median']:.1f}"])
    longer = [[kind, ratio_text(result[kind]["times_longer"])] for kind in (COLD, WARM)]
    return "\n\n".join(
        [
            f"Milliseconds from the start of the program; cold: out of the cache were {result['emptied']}",
            table(["", "", "until", "median (least to most)"], rows),
            "How many times as long BertViz's script takes until every head is painted",
            table(["", RATIO_HEADING], longer),
            "Memory then (of the script: at most), and seconds of the processor",
            table(["", "", "memory, median", "processor, s"], memory),
        ]
    )
