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
import math
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from benchmarks.abandoned import Weight, abandon, settled
from benchmarks.browser import choose, open_app, sentences
from benchmarks.busy import Busy
from benchmarks.during_training import endless, started
from benchmarks.measure import ROOT, Dot, keep, machine, megabytes_dot, short, spread, stat_dot, table
from benchmarks.pupils import BEAM_SIZE, MAX_TOKENS, MODEL, Register, hostile, huge, pupil, server_of, wrong
from headlight.checkpoints import load_translator
from headlight.runs.steer import kill
from tools import production
from tools.serving import launch, serve
from transformer import Translator, preset

# Milliseconds that 95 of 100 should take at most.
AIMS = {"choosing": 300, "typing": 2000, "opening": 5000, "opening, until any heads are there": 1000}
MAX_GROWTH = 1.05  # of the server's memory, from the end of the first minute
PHASE_SECONDS = 30.0  # of the alternating phases without and with a huge request
HUGE, STORM = "beside a huge request", "while sockets are abandoned"
MAX_STORM_SECONDS = 60.0  # in which up to a thousand sockets are abandoned
QUIET_SECONDS = 20.0  # before hostile sessions begin
MAX_RETURNED_RATIO = 1.2  # times the memory before the hostile sessions, once everything is forgotten
FORGET_SECONDS = 690.0  # until the server has forgotten every sentence: ten minutes, one for sessions, and a sweep
SETTLE_SECONDS = 120.0  # a closed session is kept for a minute, and dropped by the sweep within 20 seconds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the class lasts")
    parser.add_argument("--pupils", type=int, default=30)
    parser.add_argument("--no-training", action="store_true", help="without a training beside")
    parser.add_argument("--multi30k", type=Path, help="train on this folder, not on letters")
    parser.add_argument(
        "--huge",
        action="store_true",
        help=f"every other {PHASE_SECONDS:g} seconds one more asks for {MAX_TOKENS} tokens with a beam of {BEAM_SIZE}",
    )
    parser.add_argument(
        "--hostile",
        type=int,
        default=0,
        help="sessions that load the Why page with hundreds of words, half of which close it after 2.5 seconds",
    )
    parser.add_argument("--limit", type=float, default=math.inf, help="gigabytes at which the server is killed")
    parser.add_argument("--abandoned", type=int, default=1000, help="sockets that are abandoned at the end")
    parser.add_argument("--no-browser", action="store_true", help="without the page in a browser")
    parser.add_argument("--name", default="classroom", help="of the files in results/")
    parser.set_defaults(run=run_command)


class Load(NamedTuple):
    """The users of the server, and the gigabytes at which it is killed, as given by the command's options."""

    pupils: int
    huge: bool
    hostile: int
    limit: float
    abandoned: int


def run_command(**options: Any) -> None:
    """Run the benchmark with the options of its command."""
    run(Load(**{field: options.pop(field) for field in Load._fields}), **options)


def run(load: Load, seconds: float, no_training: bool, multi30k: Path | None, no_browser: bool, name: str) -> None:
    """Measure, print and write everything. Raises ValueError where the worker does not train."""
    busy = Busy()
    result: dict[str, Any] = {"machine": machine("torch", "streamlit"), "seconds": seconds, "pupils": load.pupils}
    result |= {"training": not no_training, "huge": load.huge}
    with tempfile.TemporaryDirectory() as folder, beside_training(Path(folder), not no_training, multi30k):
        os.environ |= production.environment()
        with serve(ROOT / "app.py", Path(folder) / "log.txt", more=production.options()) as url:
            register = Register()
            result |= run_class(url, load, seconds, not no_browser, register)
        result["log"] = [line for line in (Path(folder) / "log.txt").read_text().splitlines() if "Error" in line]
    result["busy"] = busy.shares_since_begin()
    model = load_translator(ROOT / "checkpoints" / MODEL)
    result |= summary(register, seconds) | {
        "wrong": len(wrong(register.answers, model)),
        "checked": len(register.answers),
    }
    result |= {"hostile": load.hostile, "hostile_seconds": spread(register.hostile) if register.hostile else None}
    result |= {"refusals": register.refusals}
    print(report(result))
    keep(name, result, f"A class of {load.pupils}", panels(result))


def run_class(url: str, load: Load, seconds: float, browser: bool, register: Register) -> dict[str, Any]:
    """Run the class from the first arrival to its end; return the fate of the abandoned sockets and the memory."""
    until = time.monotonic() + seconds
    probe = threading.Thread(target=_probe, args=(url, until, register), daemon=True)
    if browser:
        probe.start()
    released = asyncio.run(_class(url, load, until, register))
    if browser:
        probe.join(60)
    return released


async def _class(url: str, load: Load, until: float, register: Register) -> dict[str, Any]:
    model = load_translator(ROOT / "checkpoints" / MODEL)
    texts, has_ended = sentences(model, 20), False
    server, results = server_of(url), dict[str, Any]()
    async with asyncio.TaskGroup() as group:
        for number in range(load.pupils):
            group.create_task(pupil(url, number, texts, lambda: has_ended, register))
        weigher = group.create_task(_weigh(url, load.limit, register))
        if load.hostile:
            await asyncio.sleep(QUIET_SECONDS)
            results["before_hostile"] = register.memory[-1][1]
            for number in range(load.hostile):
                group.create_task(hostile(url, number, lambda: has_ended or time.monotonic() > until, register))
        if load.huge:
            await _phases(url, model, until, register)
        await asyncio.sleep(max(until - time.monotonic(), 0))
        results["abandoned"] = await _storm(url, load.abandoned, texts, register) if load.abandoned else None
        has_ended = True
        weigher.cancel()
    if load.hostile:
        before = replace(Weight.of(server), megabytes=results["before_hostile"])
        results["after_hostile"] = (await settled(server, before, MAX_RETURNED_RATIO, FORGET_SECONDS)).megabytes
    return results


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


async def _weigh(url: str, limit: float, register: Register) -> None:
    """Watch the server's memory, and kill the server at the limit, as a container would."""
    server, begun = server_of(url), time.monotonic()
    while True:
        resident = server.memory_info().rss
        register.memory.append((time.monotonic() - begun, resident / 2**20))
        if resident > limit * 1e9:
            register.errors.append(f"the server was killed at {resident / 2**20:.0f} MB")
            server.kill()
            return
        await asyncio.sleep(0.2)


def _probe(url: str, until: float, register: Register) -> None:
    """Choose heads in a real browser, on a page whose title must not change."""
    from playwright.sync_api import sync_playwright

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
    """Train meanwhile, with the app's runs in that folder."""
    os.environ["HEADLIGHT_RUNS"] = str(folder / "runs")
    recipe = endless(multi30k)
    if multi30k is None:
        recipe = replace(recipe, data="reverse", model=preset("small", 100, 100), tokenizer="characters", folder=None)
    worker = started(folder / "runs" / "beside", recipe) if training else None
    try:
        yield
    finally:
        del os.environ["HEADLIGHT_RUNS"]
        if worker is not None:
            kill(worker.path)


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
        rows.append(
            ("choosing in the browser", probe["count"], *(short(probe[n]) for n in ("median", "p95", "most")), "")
        )
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
    if result["hostile"]:
        peak = max(megabytes for _, megabytes in result["memory"])
        answered = result["hostile_seconds"] or {"count": 0, "median": math.nan}
        lines.append(
            f"{result['hostile']} hostile sessions: {answered['count']} requests answered, in "
            f"{short(answered['median'])} s (median), {result['refusals']} refusals. Memory: "
            f"{result['before_hostile']:.0f} MB before, {peak:.0f} MB at most, {result['after_hostile']:.0f} MB once "
            "everything is forgotten."
        )
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


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    times = [
        stat_dot(name, stats, " ms", target=AIMS.get(name.split()[0]), statistic="p95")
        for name, stats in result["milliseconds"].items()
    ]
    memory = result["megabytes"]
    weights = [
        megabytes_dot("after a minute", memory["first"]),
        megabytes_dot("at the end", memory["end"], MAX_GROWTH * memory["first"]),
    ]
    return {"Milliseconds, 95th percentile": times, "Memory of the server": weights}
