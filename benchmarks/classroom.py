"""A class of thirty beside a training: sessions that choose heads and type sentences, and a check of every answer.

The sessions speak Streamlit's protocol (see tools/streamlit_client.py); one page in a real browser chooses heads beside
them. When the class has lasted its time, sockets are opened and abandoned while it goes on. At the end, each picture
that a session was shown is compared with the library's own trace of the same sentence. Everything is on the loopback,
and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.abandoned import Weight, abandon, settled
from benchmarks.browser import choose, open_app, sentences
from benchmarks.measure import ROOT, short, spread, table
from benchmarks.pupils import BEAM_SIZE, MAX_TOKENS, MODEL, Register, huge, pupil, server_of, wrong
from headlight.checkpoints import load_translator
from headlight.runs import Metrics, Recipe, RunFolder, start, status
from headlight.runs.steer import kill
from tools import production
from tools.serving import launch, serve
from transformer import TrainConfig, Translator, preset

# Milliseconds that 95 of 100 should take at most.
AIMS = {"choosing": 300, "typing": 2000, "opening": 5000, "opening, until any heads are there": 1000}
MAX_GROWTH = 1.05  # of the server's memory, from the end of the first minute
PHASE_SECONDS = 30.0  # of the alternating phases without and with a huge request
HUGE, STORM = "beside a huge request", "while sockets are abandoned"
MAX_STORM_SECONDS = 60.0  # in which up to a thousand sockets are abandoned
SETTLE_SECONDS = 120.0  # a closed session is kept for a minute, and dropped by the sweep within 20 seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the class lasts")
    parser.add_argument("--pupils", type=int, default=30)
    parser.add_argument("--no-training", action="store_true", help="without a training beside")
    parser.add_argument("--multi30k", type=Path, help="train on this folder, not on letters")
    parser.add_argument(
        "--huge",
        dest="has_huge",
        action="store_true",
        help=f"every other {PHASE_SECONDS:g} seconds one more asks for {MAX_TOKENS} tokens with a beam of {BEAM_SIZE}",
    )
    parser.add_argument("--abandoned", type=int, default=1000, help="sockets that are abandoned at the end")
    parser.add_argument("--no-browser", action="store_true", help="without the page in a browser")


def run(
    seconds: float,
    pupils: int,
    no_training: bool,
    multi30k: Path | None,
    has_huge: bool,
    abandoned: int,
    no_browser: bool,
) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where the worker does not train."""
    register, model = Register(), load_translator(ROOT / "checkpoints" / MODEL)
    with tempfile.TemporaryDirectory() as name, beside_training(Path(name), not no_training, multi30k):
        os.environ |= production.environment()
        log = Path(name) / "log.txt"
        with serve(ROOT / "app.py", log, more=production.options()) as url:
            until = time.monotonic() + seconds
            probe = threading.Thread(target=_probe, args=(url, until, register), daemon=True)
            if not no_browser:
                probe.start()
            storm = asyncio.run(_class(url, model, pupils, until, has_huge, abandoned, register))
            if not no_browser:
                probe.join(60)
        logged_errors = [line for line in log.read_text().splitlines() if "Error" in line]
    options = {"seconds": seconds, "pupils": pupils, "training": not no_training, "huge": has_huge}
    n_wrong = len(wrong(register.answers, model))
    checks = {"log": logged_errors, "wrong": n_wrong, "checked": len(register.answers), "abandoned": storm}
    return {**options, **summary(register, seconds), **checks}


async def _class(
    url: str, model: Translator, pupils: int, until: float, has_huge: bool, abandoned: int, register: Register
) -> dict[str, Any] | None:
    """Run the class from the first arrival to its end; return the fate of the abandoned sockets."""
    texts, has_ended, storm = sentences(model, 20), False, None
    async with asyncio.TaskGroup() as group:
        for number in range(pupils):
            group.create_task(pupil(url, number, texts, lambda: has_ended, register))
        weigher = group.create_task(_weigh(url, register))
        if has_huge:
            await _phases(url, model, until, register)
        await asyncio.sleep(max(until - time.monotonic(), 0))
        if abandoned:
            storm = await _storm(url, abandoned, texts, register)
        has_ended = True
        weigher.cancel()
    return storm


async def _phases(url: str, model: Translator, until: float, register: Register) -> None:
    """Send huge requests in every other phase; the session that asks leaves at the end of the phase."""
    while (left := until - time.monotonic()) > PHASE_SECONDS:
        await asyncio.sleep(PHASE_SECONDS)
        register.condition = HUGE
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(PHASE_SECONDS, left - PHASE_SECONDS)):
                await huge(url, model, register)
        register.condition = ""


async def _storm(url: str, count: int, texts: Iterator[str], register: Register) -> dict[str, Any]:
    """Open and abandon sockets during the class; return what the server holds before and after."""
    server = server_of(url)
    before, begun = Weight.of(server), time.monotonic()
    register.condition = STORM
    register.errors += await abandon(url, count, texts, MAX_STORM_SECONDS * min(count, 1000) / 1000)
    register.condition = ""
    during, lasted = Weight.of(server), time.monotonic() - begun
    after = await settled(server, before, MAX_GROWTH, SETTLE_SECONDS)
    weights = {"before": asdict(before), "right_after": asdict(during), "settled": asdict(after)}
    return {"sockets": count, "seconds": lasted, "settled_after": time.monotonic() - begun - lasted, **weights}


async def _weigh(url: str, register: Register) -> None:
    """Watch the server's memory."""
    server, begun = server_of(url), time.monotonic()
    while True:
        register.memory.append((time.monotonic() - begun, server.memory_info().rss / 2**20))
        await asyncio.sleep(0.2)


def _probe(url: str, until: float, register: Register) -> None:
    """Choose heads in a real browser, on a page whose title must not change."""
    text = "A man in a blue shirt and a woman with a red hat are sitting on a bench near the water."
    trace = load_translator(ROOT / "checkpoints" / MODEL).trace(text)
    heads = [(layer, head) for layer in range(trace.cross.shape[0]) for head in range(trace.cross.shape[1])]
    try:
        with sync_playwright() as playwright:
            page = open_app(launch(playwright), f"{url}/?{urlencode({'model': MODEL, 'text': text})}")
            for number in range(10_000):
                register.probe.append(choose(page, trace, *heads[(5 * number + 3) % len(heads)]))
                title = page.get_by_role("heading", name="Attention", exact=True)
                if not title.is_visible() or page.get_by_test_id("stException").count():
                    register.errors.append("the browser's page is broken")
                if time.monotonic() + 3 > until:
                    break
                page.wait_for_timeout(3000)
            page.context.browser.close()  # type: ignore[union-attr]
    except Exception as error:  # an exception in a thread would go unnoticed
        register.errors.append(f"browser: {type(error).__name__}: {error}")


@contextmanager
def beside_training(folder: Path, training: bool, multi30k: Path | None) -> Iterator[None]:
    """Train within the block, without Multi30k on letters; the app's runs are in that folder.

    Raises ValueError where the worker does not train.
    """
    never = 1_000_000  # updates, longer than any measurement
    endless = TrainConfig(
        steps=never, batch_tokens=4096, schedule="constant", evaluate_every=never, checkpoint_every=never
    )
    if multi30k is None:
        recipe = Recipe("reverse", preset("small", 100, 100), endless, tokenizer="characters")
    else:
        recipe = Recipe("multi30k:en-fr", preset("small", 8000, 8000), endless, folder=str(multi30k))
    with patch.dict(os.environ, HEADLIGHT_RUNS=str(folder / "runs")):
        run = _started(recipe, folder / "runs" / "beside") if training else None
        try:
            yield
        finally:
            if run is not None:
                kill(run.path)


def _started(recipe: Recipe, path: Path) -> RunFolder:
    """Return the run once it trains. Raises ValueError where it does not."""
    run, until = start(recipe, path), time.monotonic() + 600
    while len(Metrics(run.path).read()) < 5:
        run_status = status(run.path)
        if not run_status.alive or time.monotonic() > until:
            raise ValueError(f"The worker does not train: it is {run_status.state}. {run_status.cause}")
        time.sleep(0.5)
    return run


def summary(register: Register, seconds: float) -> dict[str, Any]:
    """Summarise a class. Memory is compared from the end of the first minute, or of half of a shorter class."""
    first = min(60.0, seconds / 2)
    first_megabytes = [megabytes for at, megabytes in register.memory if first - 10 <= at <= first]
    last_megabytes = [megabytes for _, megabytes in register.memory[-50:]]
    return {
        "milliseconds": {name: spread(times) for name, times in sorted(register.took.items())},
        "browser_milliseconds": spread(register.probe) if register.probe else None,
        "huge_seconds": spread(register.huge) if register.huge else None,
        "errors": register.errors,
        "megabytes": {
            "start": register.memory[0][1],
            "first": float(np.median(first_megabytes)),
            "end": float(np.median(last_megabytes)),
        },
        "growth": float(np.median(last_megabytes) / np.median(first_megabytes)),
        "memory": [
            (round(ten[0][0]), round(max(megabytes for _, megabytes in ten)))
            for ten in (register.memory[at : at + 50] for at in range(0, len(register.memory), 50))
        ],
    }


def report(result: dict[str, Any]) -> str:
    """Format the results as README.md states them."""
    rows = [
        (name, stats["count"], short(stats["median"]), short(stats["p95"]), short(stats["most"]), AIMS.get(name, ""))
        for name, stats in result["milliseconds"].items()
    ]
    if probe := result["browser_milliseconds"]:
        times = (short(probe[statistic]) for statistic in ("median", "p95", "most"))
        rows.append(("choosing in the browser", probe["count"], *times, ""))
    memory = result["megabytes"]
    lines = [
        f"{result['pupils']} pupils, {result['seconds']:g} s, "
        f"{'a training' if result['training'] else 'nothing'} beside:",
        table(["", "count", "median ms", "p95 ms", "most ms", "aim, p95"], rows),
        f"Errors: {len(result['errors'])}. Wrong answers: {result['wrong']} of {result['checked']}. "
        f"Memory: {memory['start']:.0f} MB at the start, {memory['first']:.0f} MB after the first minute, "
        f"{memory['end']:.0f} MB at the end ({result['growth'] - 1:+.1%}; aim: at most {MAX_GROWTH - 1:+.0%}).",
    ]
    if huge := result["huge_seconds"]:
        lines.append(f"Huge requests answered: {huge['count']}, in {short(huge['median'])} s (median).")
    if left := result["abandoned"]:
        stages = [
            ("before", "before"),
            ("right_after", "right after"),
            ("settled", f"{left['settled_after']:.0f} s later"),
        ]
        stages_left = [(label, short(left[key]["megabytes"]), left[key]["files"]) for key, label in stages]
        lines.append(f"{left['sockets']:,} sockets opened and abandoned within {left['seconds']:.0f} s:")
        lines.append(table(["", "memory, MB", "file descriptors"], stages_left))
    return "\n\n".join([*lines, *map(str, result["errors"][:3])])
