"""A class beside a training: sessions that choose heads and type sentences, and whether each gets its own answer.

The sessions speak Streamlit's protocol (see tools/streamlit_client.py); one page in a real browser chooses heads beside
them. What each session was shown is kept and compared, when the load is over, with the trace that the library makes
of the same sentence. Everything is on the loopback, and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import html
import os
import random
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import psutil

from benchmarks.browser import choose, opened, sentences
from benchmarks.measure import OURS, Dot, keep, machine, short, spread, table
from tools.serving import launch, serve
from tools.streamlit_client import Session
from tools.streamlit_client import opened as session
from transformer import TrainConfig, Translator, preset
from transformer.training import Metrics, Recipe, RunFolder, start, status
from transformer.training.steer import kill

ROOT = Path(__file__).resolve().parents[1]
MODEL = "en-fr"
CHOOSING, TYPING = 300, 2000  # milliseconds that 95 of 100 should take at most
GROWTH = 1.05
PAUSE = 2.0, 8.0  # seconds between two acts of a pupil
TYPES = 0.2  # the share of a pupil's acts that are a new sentence
LONGEST = 512  # tokens of a huge request
BEAM = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=300.0, help="how long the class lasts")
    parser.add_argument("--pupils", type=int, default=30)
    parser.add_argument("--no-training", action="store_true", help="without a training beside")
    parser.add_argument("--multi30k", type=Path, help="train on this folder, not on letters")
    parser.add_argument("--huge", action="store_true", help=f"one more asks for {LONGEST} tokens, beam {BEAM}, always")
    parser.add_argument("--no-browser", action="store_true", help="without the page in a browser")
    parser.add_argument("--name", default="classroom", help="of the files in results/")
    parser.set_defaults(run=run)


@dataclass
class Answer:
    """What a session was shown: of which sentence, which head, and how the translation is read out."""

    text: str
    layer: int  # from 0, as the head
    head: int
    title: str
    weights: np.ndarray
    spoken: str


@dataclass
class Register:
    """What happened in the class."""

    took: dict[str, list[float]] = field(default_factory=lambda: {"choosing": [], "typing": [], "opening": []})
    answers: list[Answer] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    huge: list[float] = field(default_factory=list)  # seconds
    probe: list[float] = field(default_factory=list)  # milliseconds
    memory: list[tuple[float, float]] = field(default_factory=list)  # seconds, megabytes


def run(
    seconds: float, pupils: int, no_training: bool, multi30k: Path | None, huge: bool, no_browser: bool, name: str
) -> None:
    """Measures, prints and writes everything. Raises ValueError where the worker does not train."""
    result: dict[str, Any] = {"machine": machine("torch", "streamlit"), "seconds": seconds, "pupils": pupils}
    result |= {"training": not no_training, "huge": huge}
    with tempfile.TemporaryDirectory() as folder, _beside(Path(folder), not no_training, multi30k):
        os.environ |= {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1"}  # as `make serve` sets them
        with serve(ROOT / "app.py", Path(folder) / "log.txt") as url:
            found = held(url, pupils, seconds, huge, not no_browser)
        result["log"] = [line for line in (Path(folder) / "log.txt").read_text().splitlines() if "Error" in line]
    result["load_after"] = [round(load, 1) for load in os.getloadavg()]
    model = Translator.load(ROOT / "checkpoints" / MODEL)
    result |= summary(found, seconds) | {"wrong": len(wrong(found.answers, model)), "checked": len(found.answers)}
    print(told(result))
    keep(name, result, "A class of thirty", panels(result))


def held(url: str, pupils: int, seconds: float, huge: bool, browser: bool) -> Register:
    """The class, from the first pupil's coming to its end."""
    register, until = Register(), time.monotonic() + seconds
    probe = threading.Thread(target=_probe, args=(url, until, register), daemon=True)
    if browser:
        probe.start()
    asyncio.run(_class(url, pupils, until, huge, register))
    if browser:
        probe.join(60)
    return register


async def _class(url: str, pupils: int, until: float, huge: bool, register: Register) -> None:
    model = Translator.load(ROOT / "checkpoints" / MODEL)
    texts = sentences(model, 20)
    acts = [pupil(url, number, texts, until, register) for number in range(pupils)]
    if huge:
        acts.append(_huge(url, model, until, register))
    await asyncio.gather(_weigh(url, until, register), *acts)


async def pupil(
    url: str, number: int, texts: Iterator[str], until: float, register: Register, pause: tuple[float, float] = PAUSE
) -> None:
    """One session: it opens the app, and chooses heads and types sentences until the class is over."""
    draw = random.Random(number)
    layers, heads = 3, 4  # of the model
    try:
        await asyncio.sleep(draw.uniform(0, 5 * pause[1] / 3))
        text = next(texts)
        async with session(url, model=MODEL, text=text, layer="1", head="1") as page:
            await _timed(register, "opening", page.run())
            layer = head = 0
            register.answers.append(answer(page, text, layer, head))
            while True:
                await asyncio.sleep(draw.uniform(*pause))
                if time.monotonic() > until:
                    return
                if draw.random() < TYPES:
                    text = next(texts)
                    await _timed(register, "typing", page.type(text))
                else:
                    layer, head = draw.randrange(layers), draw.randrange(heads)
                    await _timed(register, "choosing", page.choose(layer, head))
                register.errors += page.errors()
                register.answers.append(answer(page, text, layer, head))
    except Exception as error:  # whatever it is, the class goes on and tells of it
        register.errors.append(f"pupil {number}: {type(error).__name__}: {error}")


async def _timed(register: Register, what: str, act: Any) -> None:
    begun = time.perf_counter()
    await act
    register.took[what].append(1000 * (time.perf_counter() - begun))


def answer(page: Session, text: str, layer: int, head: int) -> Answer:
    title, figure = page.chart()
    return Answer(text, layer, head, title, _numbers(figure["data"][0]["z"]), page.translation())


def _numbers(array: Any) -> np.ndarray:
    """An array as Plotly writes it."""
    if not isinstance(array, dict):
        return np.array(array, np.float32)
    shape = [int(part) for part in str(array["shape"]).split(",")]
    return np.frombuffer(base64.b64decode(array["bdata"]), array["dtype"]).reshape(shape).astype(np.float32)


def wrong(answers: list[Answer], model: Translator) -> list[Answer]:
    """The answers that are not those of the library for the same sentence and head."""
    found = []
    for text in dict.fromkeys(answer.text for answer in answers):
        trace = model.trace(text)
        for one in (answer for answer in answers if answer.text == text):
            weights = trace.cross[one.layer, one.head]
            right = one.title == f"Layer {one.layer + 1}, head {one.head + 1}"
            right = right and one.weights.shape == weights.shape and np.allclose(one.weights, weights, atol=1e-5)
            words = re.search(r'aria-label="[^:]*: (.*)\. Log-probability', one.spoken)
            right = right and words is not None and words[1] == html.escape(trace.translation)
            found += [] if right else [one]
    return found


async def _huge(url: str, model: Translator, until: float, register: Register) -> None:
    """One who asks for the longest that the model reads, with the widest beam, again and again."""
    try:
        for number in range(10_000):
            text = longest(model, number)
            async with session(url, "decoding", model=MODEL, text=text, strategy="beam", size=str(BEAM)) as page:
                begun = time.perf_counter()
                await page.run(seconds=max(until - time.monotonic(), 1))
                register.huge.append(time.perf_counter() - begun)
            if time.monotonic() > until:
                return
    except TimeoutError:
        return


def longest(model: Translator, number: int) -> str:
    """A text of just as many tokens as the model reads, another for each number."""
    words = f"{number} dogs run on the beach while a man in a blue shirt looks at the water . ".split()
    size = LONGEST
    while True:
        text = " ".join(words[n % len(words)] for n in range(size))
        over = len(model.checkpoint.source_tokenizer.encode(text)) + 1 - LONGEST
        if over <= 0:
            return text
        size -= max(1, over // 2)


async def _weigh(url: str, until: float, register: Register) -> None:
    server, begun = server_of(url), time.monotonic()
    while (now := time.monotonic()) < until:
        register.memory.append((now - begun, server.memory_info().rss / 2**20))
        await asyncio.sleep(1)


def server_of(url: str) -> psutil.Process:
    """The process that answers at an address."""
    port = int(url.rsplit(":", 1)[1])
    for child in psutil.Process().children(recursive=True):
        if any(c.laddr.port == port and c.status == psutil.CONN_LISTEN for c in child.net_connections("tcp")):
            return child
    raise ValueError(f"Nothing listens at {url}.")


def _probe(url: str, until: float, register: Register) -> None:
    """A page in a real browser: it chooses heads, and its title stays what it is."""
    from playwright.sync_api import sync_playwright

    text = "A man in a blue shirt and a woman with a red hat are sitting on a bench near the water."
    trace = Translator.load(ROOT / "checkpoints" / MODEL).trace(text)
    places = [(layer, head) for layer in range(trace.cross.shape[0]) for head in range(trace.cross.shape[1])]
    try:
        with sync_playwright() as playwright:
            page = opened(launch(playwright), f"{url}/?{urlencode({'model': MODEL, 'text': text})}")
            for number in range(10_000):
                register.probe.append(choose(page, trace, *places[(5 * number + 3) % len(places)]))
                title = page.get_by_role("heading", name="Attention", exact=True)
                if not title.is_visible() or page.get_by_test_id("stException").count():
                    register.errors.append("the browser's page is broken")
                if time.monotonic() + 3 > until:
                    break
                page.wait_for_timeout(3000)
            page.context.browser.close()  # type: ignore[union-attr]
    except Exception as error:  # a thread's end is heard by nobody
        register.errors.append(f"browser: {type(error).__name__}: {error}")


@contextmanager
def _beside(folder: Path, training: bool, multi30k: Path | None) -> Iterator[None]:
    """A run that trains meanwhile, and the app's runs in that folder."""
    os.environ["HEADLIGHT_RUNS"] = str(folder / "runs")
    worker = _started(folder / "runs" / "beside", multi30k) if training else None
    try:
        yield
    finally:
        del os.environ["HEADLIGHT_RUNS"]
        if worker is not None:
            kill(worker.path)


def _started(path: Path, multi30k: Path | None) -> RunFolder:
    """A run that has begun to train, and goes on for longer than the class."""
    often = {"evaluate_every": 1_000_000, "checkpoint_every": 1_000_000}
    config = TrainConfig(steps=1_000_000, batch_tokens=4096, schedule="constant", **often)  # type: ignore[arg-type]
    if multi30k is None:
        recipe = Recipe("reverse", preset("small", 100, 100), config, tokenizer="characters")
    else:
        recipe = Recipe("multi30k:en-fr", preset("small", 8000, 8000), config, folder=str(multi30k))
    run, until = start(recipe, path), time.monotonic() + 300
    while len(Metrics(path).read()) < 3:
        found = status(path)
        if not found.alive or time.monotonic() > until:
            raise ValueError(f"The worker does not train: it is {found.state}. {found.cause}")
        time.sleep(0.5)
    return run


def summary(found: Register, seconds: float) -> dict[str, Any]:
    """The figures of a class. Memory is compared from the end of the first minute, or of half of a shorter class."""
    first = min(60.0, seconds / 2)
    early = [megabytes for at, megabytes in found.memory if first - 10 <= at <= first]
    late = [megabytes for _, megabytes in found.memory[-10:]]
    return {
        "milliseconds": {what: spread(times) for what, times in found.took.items() if times},
        "browser_milliseconds": spread(found.probe) if found.probe else None,
        "huge_seconds": spread(found.huge) if found.huge else None,
        "errors": found.errors,
        "megabytes": {"start": found.memory[0][1], "first": float(np.median(early)), "end": float(np.median(late))},
        "growth": float(np.median(late) / np.median(early)),
        "memory": [(round(at), round(megabytes)) for at, megabytes in found.memory[::10]],
    }


def told(result: dict[str, Any]) -> str:
    rows = [
        (what, one["count"], short(one["median"]), short(one["p95"]), short(one["most"]))
        for what, one in result["milliseconds"].items()
    ]
    if probe := result["browser_milliseconds"]:
        rows.append(("browser, choosing", probe["count"], *(short(probe[n]) for n in ("median", "p95", "most"))))
    memory = result["megabytes"]
    return "\n\n".join(
        [
            f"{result['pupils']} pupils, {result['seconds']:g} s, "
            f"{'a training' if result['training'] else 'nothing'} beside, load {result['load_after']}",
            table(["", "count", "median ms", "95th percentile", "most"], rows),
            f"Errors: {len(result['errors'])} {result['errors'][:3]}; wrong answers: {result['wrong']} "
            f"of {result['checked']}",
            f"Memory: {memory['start']:.0f} MB at the start, {memory['first']:.0f} after the first minute, "
            f"{memory['end']:.0f} at the end: {result['growth'] - 1:+.1%}",
            f"Huge requests: {result['huge_seconds']}" if result["huge_seconds"] else "",
        ]
    )


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    limits = {"choosing": CHOOSING, "typing": TYPING}
    times = [
        Dot(what, one["p95"], f"{short(one['p95'])} ms", OURS, limits.get(what))
        for what, one in result["milliseconds"].items()
    ]
    memory = result["megabytes"]
    weights = [
        Dot("after a minute", memory["first"], f"{memory['first']:.0f} MB", OURS),
        Dot("at the end", memory["end"], f"{memory['end']:.0f} MB", OURS, GROWTH * memory["first"]),
    ]
    return {"Milliseconds, 95th percentile": times, "Memory of the server": weights}
