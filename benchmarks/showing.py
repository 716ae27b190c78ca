"""Bytes to the browser and time until every head is painted, compared with BertViz.

Both get the very same patterns: 6 + 6 layers of 8 heads, encoder, decoder and cross.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import psutil
import torch
from ipywidgets.widgets.widget import _remove_buffers
from playwright.sync_api import Browser

import headlight
from benchmarks import browser
from benchmarks.measure import (
    LONGER,
    RATIO_HEADING,
    ROOT,
    alternate,
    range_text,
    ratio_text,
    ratios,
    reached_text,
    seconds,
    short,
    spread,
    table,
)
from headlight import checkpoints
from headlight.analysis.layout import descriptions, lay_out, measures
from headlight.checkpoints import load_translator
from headlight.viewer.export import KindView, standalone_html
from transformer import ModelConfig, StackConfig, Trace, Transformer, Translator
from transformer.attention import MultiHeadAttention
from transformer.checkpoint import Checkpoint
from transformer.files import write_text
from transformer.tokenizers import Tokenizer
from transformer.trace import KINDS
from ui.attention.heads import every_head
from ui.attention.picture import ShownTrace

TEXT = (
    "the old house at the end of our street has a green door and nine small windows , "
    "in summer children play under its trees while somebody reads the news to a dog that never listens ."
)
MAX_TOKENS = 512  # that the model reads
MAX_TOKENS_IN_PROCESS = 256  # for longer sentences BertViz takes over a gigabyte, in a process of its own
PAGE_TIMEOUT_SECONDS, PAINT_TIMEOUT_SECONDS = 300, 90  # for making a page, and for painting a file
TOTAL_SECONDS = 60  # for all rounds of slow measurements: as many rounds as fit, at least one
OUT_OF_MEMORY = 3  # an exit code
ACTIONS_PER_ROUND = 4  # clicks or sentences
APP_TOKENS = 32  # of the sentence in the app
# How many times the bytes of the overview and of a notebook cell `model_view` takes, at least, by tokens.
BYTES_TARGETS = {64: 25, 256: 100}
# Milliseconds at the 95th percentile, at most.
TARGETS = {
    "choose a head": 200,
    "choose a head, exact on hover": None,
    "switch encoder, decoder, cross": 200,
    "hover over the lines of 8 heads": 16,
    "type a new sentence of 20": 1000,
}
NAMES = {
    "headlight": "Headlight, overview",
    "app": "Headlight, the whole page",
    "headlight_file": "Headlight, offline file",
    "cell": "Headlight, notebook cell",
    "cell_saved": "Headlight, saved cell",
    "model_view": "BertViz model_view",
    "head_view": "BertViz head_view",
}
BERTVIZ_PAGES = ("model_view", "head_view")
MADE_PAGES = ("headlight", "headlight_file", *BERTVIZ_PAGES)
OPENED_PAGES = ("app", "headlight_file", *BERTVIZ_PAGES)
# A page in a file of its own is painted once this selector matches: our thumbnails, BertViz's lines.
PAINTED_SELECTORS = {"headlight_file": ".thumb", "model_view": "#vis line", "head_view": "#vis #attention line"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 128, 256, 512], help="lengths")
    parser.add_argument("--rounds", type=int, default=9, help=f"rounds; each has {ACTIONS_PER_ROUND} clicks")
    parser.add_argument(
        "--scripts", type=Path, help="folder of require.js, jquery.min.js and d3.min.js, for BertViz's page offline"
    )


def run(tokens: list[int], rounds: int, scripts: Path | None) -> dict[str, Any]:
    """Return the measurements. Raises ValueError where something to measure with is missing."""
    if not 2 <= min(tokens) <= max(tokens) <= MAX_TOKENS:
        raise ValueError(f"--tokens are {tokens}; choose lengths from 2 to {MAX_TOKENS}.")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = make_checkpoint(folder / "checkpoints" / "large")
        traces = {n: trace_of(large, n) for n in {*tokens, APP_TOKENS}}
        page_sizes = {n: sizes(large, traces[n], folder, rounds) for n in tokens}
        result = in_the_browser(folder, traces, tokens, rounds, scripts)
    for n, opened in result["opened"].items():
        page_sizes[n]["bytes"]["app"] = opened.pop("bytes")
    return {"rounds": rounds, "sizes": page_sizes, **result}


# ---- what is shown --------------------------------------------------------------------------------


def make_checkpoint(folder: Path) -> Translator:
    """Write a model with random weights: showing its attention costs as much as with a trained one."""
    tokenizer = Tokenizer.train([TEXT], "words", 100, min_frequency=1)
    size, stack = tokenizer.vocab_size, StackConfig(6, 8, 1024)
    sizes: dict[str, Any] = {"d_model": 256, "encoder": stack, "decoder": stack, "max_length": MAX_TOKENS + 8}
    torch.manual_seed(0)
    model = Transformer(ModelConfig(size, size, norm="pre", final_norm=True, **sizes)).eval()
    with torch.no_grad():  # untrained heads attend almost uniformly; sharper, they attend to something
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.query.weight.mul_(4)
    card = {"title": "Random weights", "source": "Words", "target": "Words", "examples": [TEXT]}
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, card), folder)
    return load_translator(folder)


def trace_of(model: Translator, tokens: int) -> Trace:
    """Return a trace with this many source tokens ([EOS] included), and as many that are read and written."""
    words = TEXT.split()
    text = " ".join(words[i % len(words)] for i in range(tokens - 1))
    trace = model.trace(text, target=text)
    assert all(trace.pattern(kind).shape[2:] == (tokens, tokens) for kind in KINDS)
    return trace


# ---- bytes ----------------------------------------------------------------------------------------


def overview_bytes(model: Translator, trace: Trace) -> int:
    """Return the size of the page's overview of all heads, with captions, masks and profiles."""
    shown_trace = ShownTrace("", (), model, trace, trace, None, (), None)
    return len(every_head(shown_trace, words=False, hide=False, scale="fixed").payload)


def cell_bytes(trace: Trace) -> dict[str, int]:
    """Return the bytes that `headlight.show` sends to a notebook ("cell"), and those saved with it ("cell_saved").

    Saved is the HTML. Sent is also the state of the widget; both contain the script.
    """
    module = "headlight.notebook.view"
    with patch(f"{module}._saves_html", return_value=True), patch(f"{module}.display") as out:
        view = headlight.show(trace, selected=("encoder", 0, 0))
        view._ipython_display_()
    saved = sum(len(json.dumps(call.args[0])) for call in out.call_args_list)
    state, _, buffers = _remove_buffers(view.get_state())
    return {"cell": saved + len(json.dumps(state)) + sum(map(len, buffers)), "cell_saved": saved}


def offline_page(trace: Trace) -> str:
    """Return the HTML of our offline file: the overviews, and the weights of every head."""
    kinds: dict[str, KindView] = {}
    for kind in KINDS:
        layout = lay_out(trace, kind, words=False, hide=False)
        patterns = layout.apply(trace.pattern(kind))
        labels = layout.rows, layout.columns, layout.reads
        kinds[kind] = KindView(patterns, layout.masked, *labels, descriptions(trace, layout, measures(trace, layout)))
    return standalone_html("Headlight", kinds, ("encoder", 0, 0), "light", {})


def bertviz_page(name: str, trace: Trace) -> str:
    """Return the HTML of BertViz's `model_view` or `head_view`. Raises ValueError where it is not installed."""
    try:
        view = getattr(import_module("bertviz"), name)
    except ModuleNotFoundError:
        raise ValueError("BertViz is not installed: pip install -r requirements/bench.txt") from None
    layers = {f"{kind}_attention": [torch.tensor(layer)[None] for layer in trace.pattern(kind)] for kind in KINDS}
    sides = {"encoder_tokens": trace.columns("encoder"), "decoder_tokens": trace.columns("decoder")}
    html: str = view(**layers, **sides, html_action="return").data
    return html


class PageNotMade(Exception):
    """Raised if a page cannot be made within the limits of time and memory."""


def make_page(name: str, trace: Trace, path: Path) -> float:
    """Write one of the three pages; return the seconds that making it took, without writing."""
    make = offline_page if name == "headlight_file" else partial(bertviz_page, name)
    start = time.perf_counter()
    page = make(trace)
    took = time.perf_counter() - start
    write_text(path, page)
    return took


def make_apart(name: str, trace: Trace, path: Path) -> float:
    """Do the same as `make_page` in a process limited to PAGE_TIMEOUT_SECONDS and most of the free memory.

    Raises PageNotMade, which says why.
    """
    note = path.with_suffix(".seconds")
    # Patterns of long texts are computed when they are read, by a function that another process does not get.
    trace = replace(trace, **{kind: np.asarray(trace.pattern(kind)) for kind in KINDS})  # type: ignore[arg-type]
    process = multiprocessing.get_context("spawn").Process(target=_make_apart, args=(name, trace, path, note))
    process.start()
    process.join(PAGE_TIMEOUT_SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
        raise PageNotMade(f"not made in {PAGE_TIMEOUT_SECONDS} s")
    if process.exitcode in (OUT_OF_MEMORY, -signal.SIGKILL):  # the system's answer to full memory
        raise PageNotMade("not made: memory is full")
    if process.exitcode:
        raise ValueError(f"{NAMES[name]} cannot be made: see above.")
    return float(note.read_text())


def _make_apart(name: str, trace: Trace, path: Path, note: Path) -> None:
    free = psutil.virtual_memory().available
    resource.setrlimit(resource.RLIMIT_DATA, (int(0.8 * free),) * 2)
    try:
        took = make_page(name, trace, path)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "allocate memory" in str(error):
            sys.exit(OUT_OF_MEMORY)
        raise
    note.write_text(str(took))


def page_file(folder: Path, name: str, tokens: int) -> Path:
    return folder / f"{name}-{tokens}.html"


def sizes(model: Translator, trace: Trace, folder: Path, rounds: int) -> dict[str, Any]:
    """Return the bytes of each page, and the seconds that making it takes; the pages stay in the folder.

    Slow pages are made in fewer rounds, and pages that cannot be made are listed under "failed".
    """
    tokens = len(trace.rows("encoder"))
    numbers: dict[str, Any] = {"bytes": {"headlight": overview_bytes(model, trace), **cell_bytes(trace)}, "failed": {}}
    tasks: dict[str, Callable[[], float]] = {"headlight": seconds(partial(overview_bytes, model, trace))}
    first = {"headlight": tasks["headlight"]()}
    for name in PAINTED_SELECTORS:
        path = page_file(folder, name, tokens)
        is_light = name == "headlight_file" or tokens <= MAX_TOKENS_IN_PROCESS
        make = partial(make_page if is_light else make_apart, name, trace, path)
        try:
            first[name] = make()
        except PageNotMade as error:
            numbers["failed"][name] = str(error)
        else:
            numbers["bytes"][name] = path.stat().st_size
            tasks[name] = make
    times = repeated(rounds, tasks, first)
    numbers["seconds"] = {name: spread(values) for name, values in times.items()}
    numbers["times_longer"] = {
        name: ratios(times[name], times["headlight"], LONGER) for name in tasks if name in PAINTED_SELECTORS
    }
    return numbers


def repeated(
    rounds: int, tasks: dict[str, Callable[[], float]], first: dict[str, float], unit: float = 1.0
) -> dict[str, list[float]]:
    """Run the tasks by turns, in as many rounds as TOTAL_SECONDS allows; return their times.

    `first` are the times of a first round; a `unit` of them is so many seconds. They are returned if there is no time
    for two more rounds.
    """
    fitting = min(rounds, int(TOTAL_SECONDS / (unit * sum(first.values()))))
    return alternate(fitting, tasks) if fitting > 1 else {name: [value] for name, value in first.items()}


# ---- time -----------------------------------------------------------------------------------------


def in_the_browser(
    folder: Path, traces: dict[int, Trace], tokens: list[int], rounds: int, scripts: Path | None
) -> dict[str, Any]:
    """Return milliseconds: how long pages take to paint, ours and BertViz's, and how long the app takes to answer."""
    models, shipped = folder / "checkpoints", ROOT / "checkpoints" / "en-fr"
    (models / shipped.name).symlink_to(shipped, target_is_directory=True)
    trace, clicks = traces[APP_TOKENS], rounds * ACTIONS_PER_ROUND
    with browser.app(folder / "log.txt", models) as (chromium, url):
        opened = {n: painting(chromium, url, traces[n], folder, rounds, scripts) for n in tokens}
        times = [
            browser.choosing(chromium, url, trace, clicks, "head"),
            browser.choosing(chromium, url, trace, clicks, "exact"),
            browser.switching(chromium, url, trace, clicks),
            browser.hovering(chromium, url, trace, rounds),
            browser.typing(chromium, url, load_translator(shipped), clicks),
        ]
        app = {name: spread(values) for name, values in zip(TARGETS, times, strict=True)}
        return {"chromium": chromium.version, "opened": opened, "app": app}


def painting(
    chromium: Browser, url: str, trace: Trace, folder: Path, rounds: int, scripts: Path | None
) -> dict[str, Any]:
    """Time from opening the app, our file and BertViz's two until they are painted; failures are under "failed".

    Without the folder of scripts, BertViz's pages paint nothing.
    """
    _, size = browser.opening_app(chromium, url, trace)  # this one also translates
    numbers: dict[str, Any] = {"bytes": size, "failed": {}}
    tasks: dict[str, Callable[[], float]] = {"app": lambda: browser.opening_app(chromium, url, trace)[0]}
    first = {"app": tasks["app"]()}
    for name, selector in PAINTED_SELECTORS.items():
        path = page_file(folder, name, len(trace.rows("encoder")))
        if not path.exists():
            continue
        open_file = partial(browser.opening, chromium, path, selector, scripts, PAINT_TIMEOUT_SECONDS)
        took = open_file()
        if took is None:
            numbers["failed"][name] = f"not painted in {PAINT_TIMEOUT_SECONDS} s"
            continue
        first[name] = took
        tasks[name] = lambda open_file=open_file: open_file() or float("nan")  # type: ignore[misc]
    times = repeated(rounds, tasks, first, unit=1e-3)
    numbers |= {name: spread(values) for name, values in times.items()}
    for headlight_page in ("app", "headlight_file"):
        numbers[f"times_longer_than_{headlight_page}"] = {
            name: ratios(times[name], times[headlight_page], LONGER) for name in BERTVIZ_PAGES if name in times
        }
    return numbers


# ---- the report -----------------------------------------------------------------------------------


def report(result: dict[str, Any]) -> str:
    return f"{sizes_report(result['sizes'])}\n\n{times_report(result['opened'], result['app'])}"


def sizes_report(pages: dict[int, dict[str, Any]]) -> str:
    """Return two tables by tokens: the bytes of each page, and the milliseconds to make it."""
    sizes, times = [], []
    for tokens, page in pages.items():
        page_bytes, fewer = page["bytes"], [""] * 4
        if "model_view" in page_bytes:
            overview, cell = (page_bytes["model_view"] / page_bytes[name] for name in ("headlight", "cell"))
            target = BYTES_TARGETS.get(tokens)
            fewer = [short(overview), reached_text(overview, target, at_most=False)]
            fewer += [short(cell), reached_text(cell, target, at_most=False)]
        page_sizes = {name: f"{count / 1e6:.3g} MB" for name, count in page_bytes.items()} | page["failed"]
        sizes.append([tokens, *(page_sizes[name] for name in NAMES), *fewer])
        milliseconds = {name: short(1000 * took["median"]) for name, took in page["seconds"].items()} | page["failed"]
        longer = [ratio_text(ratio) for view, ratio in page["times_longer"].items() if view == "model_view"]
        times.append([tokens, *(milliseconds.get(name, "") for name in MADE_PAGES), *(longer or [""])])
    fewer_heads = ["model_view / overview", "target", "model_view / notebook cell", "target"]
    made_names = [NAMES[name] for name in MADE_PAGES]
    return "\n\n".join(
        [
            "Bytes to the browser (the whole page: over its socket, from its opening to the last of it)",
            table(["tokens", *NAMES.values(), *fewer_heads], sizes),
            f"Milliseconds to make them, medians; the ratio, {RATIO_HEADING}",
            table(["tokens", *made_names, "model_view / overview, times as long"], times),
        ]
    )


def times_report(pages: dict[int, dict[str, Any]], app: dict[str, dict[str, float]]) -> str:
    """Return two tables: the milliseconds until pages are painted, by tokens, and those until the app answers."""
    ratio_pairs = [(view, page) for view in BERTVIZ_PAGES for page in ("app", "headlight_file")]
    opened = []
    for tokens, page in pages.items():
        painted = {name: range_text(page[name]) for name in OPENED_PAGES if name in page} | page["failed"]
        ratios = [page[f"times_longer_than_{headlight_page}"].get(view) for view, headlight_page in ratio_pairs]
        longer = [ratio_text(ratio) if ratio else "" for ratio in ratios]
        opened.append([tokens, *(painted.get(name, "not made") for name in OPENED_PAGES), *longer])
    answered = [
        [name, range_text(stats), short(stats["p95"]), reached_text(stats["p95"], TARGETS[name]), stats["count"]]
        for name, stats in app.items()
    ]
    names = [NAMES[name] for name in OPENED_PAGES]
    return "\n\n".join(
        [
            f"Milliseconds from opening a page until it is painted, median (least to most); ratios, {RATIO_HEADING}",
            table(["tokens", *names, *(f"{view} / {page}, times as long" for view, page in ratio_pairs)], opened),
            f"Milliseconds from an event in the app to two frames after its answer, {APP_TOKENS} tokens",
            table(["", "median (least to most)", "95th percentile", "target", "times"], answered),
        ]
    )
