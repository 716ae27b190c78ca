"""A published page in Chromium, from a file and without a network: times, memory, and its numbers beside Python's."""

from __future__ import annotations

import argparse
import base64
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from playwright.sync_api import Browser, Page, Worker, sync_playwright

from benchmarks.browser import opening, sentences
from benchmarks.measure import ROOT, range_text, reached_text, short, spread, table
from headlight import checkpoints, folders
from headlight.corpora.corpora import open_split
from headlight.web.model_file import round_weights
from headlight.web.publish import single_page
from tools.serving import launch
from transformer import Translator
from transformer.trace import KINDS

SCRIPT = Path(__file__).with_suffix(".js")
TIMED_MODEL = "en-fr"  # the largest that ships
TOKENS = 20  # that are written where writing is timed
AIMS = {  # milliseconds, and megabytes
    "first picture": 1500,
    f"{TOKENS} tokens, greedily": 250,
    f"{TOKENS} tokens, beam of 5": 800,
    "choosing a head": 50,
    "memory of the tab": 250,
}
LOGITS_TOLERANCE, WEIGHTS_TOLERANCE = 1e-3, 1e-4
CORPORA = {"en-fr": "phrases", "de-en": "phrases", "reverse-learned": "reverse"} | dict.fromkeys(
    ("reverse-unmasked", "reverse-no-residual", "reverse-no-norms"), "reverse"
)
_PRIVATE = ("Private_Clean:", "Private_Dirty:", "SwapPss:")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="times that a page is opened, and a sentence is written")
    parser.add_argument("--sentences", type=int, default=0, help="held to Python, of each model; 0 measures times only")
    parser.add_argument("--models", nargs="+", default=list(folders.shipped()), help="those that are held to Python")


def run(rounds: int, sentences: int, models: list[str]) -> dict[str, Any]:
    torch.set_num_threads(1)
    agreements: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = launch(playwright)
        for name in models if sentences else []:
            file = page_of(name, Path(folder))
            agreements[name] = asdict(agreement(chromium, file, name, sentences_for(name, sentences)))
            print(name, agreements[name], flush=True)
        file = page_of(TIMED_MODEL, Path(folder))
        acting = {**writing(chromium, file, rounds), "choosing a head": choosing(chromium, file, 40 * rounds)}
        measured = {
            "first picture": spread(first_pictures(chromium, file, rounds)),
            **{name: spread(time_.clock for time_ in times) for name, times in acting.items()},
            "memory of the tab": spread(megabytes(chromium, file) for _ in range(min(rounds, 3))),
        }
        return {
            "rounds": rounds,
            "agreement": agreements,
            "bytes": file.stat().st_size,
            "version": chromium.version,
            "measured": measured,
            "processor": {name: spread(time_.processor for time_ in times) for name, times in acting.items()},
        }


def page_of(name: str, folder: Path) -> Path:
    file = folder / f"{name}.html"
    if not file.exists():
        file.write_text(single_page(name), encoding="utf-8")
    return file


def sentences_for(name: str, count: int) -> list[str]:
    """Return sentences that ship with the code: everyday ones and phrases, or what the model's grammar generates."""
    lines: Iterator[str] = iter(())
    for file in (*(ROOT / "tests/everyday").glob(f"*{name}.tsv"), ROOT / f"headlight/corpora/phrases/{name}.tsv"):
        if file.exists():
            lines = chain(lines, file.read_text("utf-8").splitlines())
    fixed = list(dict.fromkeys(line.split("\t")[0] for line in lines))
    if len(fixed) >= count:
        return fixed[:: len(fixed) // count][:count]
    spec = CORPORA.get(name, name)
    return [*fixed, *(pair.source for pair in islice(open_split(spec, "test"), count - len(fixed)))]


# ---- its numbers beside Python's -----------------------------------------------------------------------


@dataclass
class PageAgreement:
    """Agreement of a page's results with Python, with the same rounded weights."""

    sentences: int = 0
    same_source: int = 0  # tokens of the source
    same_greedy: int = 0  # tokens and text
    same_beam: int = 0  # all five hypotheses of a beam of five
    logits: float = 0.0  # the largest difference
    weights: float = 0.0  # of attention, the largest difference

    @property
    def holds(self) -> bool:
        same = {self.sentences, self.same_source, self.same_greedy, self.same_beam}
        return len(same) == 1 and self.logits <= LOGITS_TOLERANCE and self.weights <= WEIGHTS_TOLERANCE


def agreement(browser: Browser, file: Path, name: str, texts: Sequence[str]) -> PageAgreement:
    """Open the page without a network and compare what its own worker computes."""
    checkpoint = checkpoints.load(name)
    round_weights(checkpoint.model)
    model, agreed = Translator(checkpoint), PageAgreement()
    context = browser.new_context(offline=True)
    page = context.new_page()
    worker = worker_of(page, file)
    for text in texts:
        answer = worker.evaluate(f"text => {SCRIPT.read_text('utf-8')}.computed(text)", text)
        source = model.encode(text)
        greedy = model.translate(text, beam_size=1)
        agreed.sentences += 1
        agreed.same_source += answer["ids"] == source
        agreed.same_greedy += answer["greedy"] == greedy.ids and answer["text"] == greedy.text
        agreed.same_beam += answer["beam"] == [hypothesis.ids for hypothesis in model.n_best(text, 5)]
        if answer["greedy"] != greedy.ids:
            continue
        ids = [model.model.config.sos_id, *greedy.ids]
        trace = model.trace_ids(source, ids)
        with torch.inference_mode():
            logits = model.model(torch.tensor([source]), torch.tensor([ids[:-1]]))[0].numpy()
        agreed.logits = max(agreed.logits, _largest_difference(answer["numbers"]["logits"], logits))
        for kind in KINDS:
            agreed.weights = max(agreed.weights, _largest_difference(answer["numbers"][kind], trace.pattern(kind)))
    context.close()
    return agreed


def worker_of(page: Page, file: Path) -> Worker:
    """Return the page's worker, once the page has its first picture."""
    page.goto(file.as_uri())
    page.locator(".thumb").first.wait_for(timeout=120_000)
    return page.workers[0]


def _largest_difference(packed: str, expected: np.ndarray) -> float:
    values = np.frombuffer(base64.b64decode(packed), np.float32).reshape(expected.shape)
    return float(np.abs(values - expected).max())


# ---- times and memory ------------------------------------------------------------------------------------


class Milliseconds(NamedTuple):
    """Time of an action: by the clock, and of all threads of the page's process, which others cannot slow down."""

    clock: float
    processor: float


class Tab:
    """A page with its first picture, in a process of its own."""

    def __init__(self, browser: Browser, file: Path) -> None:
        before = _renderers(browser)
        self.page = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
        self.worker = worker_of(self.page, file)
        # Chromium keeps an empty process in reserve beside the tab's.
        self.process = max(_renderers(browser) - before, key=private_bytes)

    def processor(self) -> float:
        """Return the milliseconds that the process has computed so far."""
        states = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(state.read_text().split()[0]) for state in states) / 1e6

    def timed(self, act: Callable[[], float]) -> Milliseconds:
        """Call a function that returns its own milliseconds by the clock."""
        before = self.processor()
        return Milliseconds(act(), self.processor() - before)

    def close(self) -> None:
        self.page.context.close()


def first_pictures(browser: Browser, file: Path, rounds: int) -> Iterator[float]:
    """Return the milliseconds from opening the file to two frames after its heads; the first round warms up."""
    for turn in range(rounds + 1):
        took = opening(browser, file, ".thumb", None, 120)
        if took is None:
            raise ValueError(f"{file} showed no picture within two minutes.")
        if turn:
            yield took


def writing(browser: Browser, file: Path, rounds: int) -> dict[str, list[Milliseconds]]:
    """Measure how long the page's worker takes for sentences of which it writes so many tokens."""
    model = Translator(checkpoints.load(TIMED_MODEL))
    texts = (text for text in sentences(model, TOKENS) if len(model.translate(text, beam_size=1).ids) == TOKENS)
    chosen, tab = list(islice(texts, 3)), Tab(browser, file)
    call = f"given => {SCRIPT.read_text('utf-8')}.milliseconds(given)"
    times: dict[str, list[Milliseconds]] = {}
    for turn in range(rounds + 1):
        for name, size in ((f"{TOKENS} tokens, greedily", 1), (f"{TOKENS} tokens, beam of 5", 5)):
            for text in chosen:
                took = tab.timed(partial(tab.worker.evaluate, call, {"text": text, "size": size}))
                times.setdefault(name, []).extend([took] if turn else [])
    tab.close()
    return times


def choosing(browser: Browser, file: Path, count: int) -> list[Milliseconds]:
    """Measure the time from pressing on a head to two frames after it is large."""
    tab = Tab(browser, file)
    thumbs = tab.page.locator(".thumb")
    heads = thumbs.count()

    def choose(n: int) -> float:
        tab.page.evaluate(
            """() => { window.took = new Promise(done => addEventListener("pointerdown", ({ timeStamp }) => {
                addEventListener("click", () => requestAnimationFrame(() => requestAnimationFrame(() =>
                  done(performance.now() - timeStamp))), { once: true });
              }, { capture: true, once: true })); }"""
        )
        thumbs.nth((7 * n + 1) % heads).click()
        return float(tab.page.evaluate("took"))

    times = [tab.timed(partial(choose, n)) for n in range(count + 3)]
    tab.close()
    return times[3:]


def megabytes(browser: Browser, file: Path) -> float:
    """Return the private memory of the tab's process after ten heads of each kind, the search and a second sentence."""
    tab = Tab(browser, file)
    for kind in KINDS:
        tab.page.get_by_role("button", name=kind.capitalize(), exact=True).click()
        for n in range(10):
            tab.page.locator(".thumb").nth(n).click()
    tab.page.get_by_role("radio", name="Step by step").click()
    tab.page.locator(".player").wait_for()
    tab.page.locator("#sentence").fill("The cat sleeps on the chair.")
    tab.page.wait_for_timeout(3000)
    megabytes_used = private_bytes(tab.process) / 1e6
    tab.close()
    return megabytes_used


def private_bytes(process: int) -> int:
    """Return what a process has for itself alone, as the task manager of Chromium counts it."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(_PRIVATE))


def _renderers(browser: Browser) -> set[int]:
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return {process["id"] for process in processes if process["type"] == "renderer"}


# ---- the report -------------------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> str:
    rows = []
    for name, stats in result["measured"].items():
        value, unit = stats["p95" if name == "choosing a head" else "median"], "MB" if "memory" in name else "ms"
        aim = reached_text(value, AIMS[name], unit=f" {unit}")
        processor = result["processor"].get(name)
        computing = f"{short(processor['median'])} ms" if processor else ""
        rows.append([name, range_text(stats), short(stats["p95"]), aim, computing, stats["count"]])
    text = f"The page with {TIMED_MODEL}, {result['bytes'] / 1e6:.1f} MB, in Chromium {result['version']}\n\n"
    text += table(["", "median (least to most)", "95th percentile", "at most", "of processors", "times"], rows)
    if not result["agreement"]:
        return text
    compared = [
        [name, *(f"{agreed[field]} of {agreed['sentences']}" for field in ("same_source", "same_greedy", "same_beam")),
         f"{agreed['logits']:.1e}", f"{agreed['weights']:.1e}"]
        for name, agreed in result["agreement"].items()
    ]  # fmt: skip
    head = ["model", "same source", "same greedy", "same beam", "logits apart", "attention apart"]
    return f"{text}\n\nHeld to Python with the same rounded weights\n\n{table(head, compared)}"
