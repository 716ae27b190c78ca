"""What it takes until every head is seen: bytes to the browser and time to paint, beside BertViz.

Both get the very same patterns: 6 + 6 layers of 8 heads, encoder, decoder and cross.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.measure import OURS, THEIRS, Dot, alternate, keep, machine, ratios, seconds, short, spread, table
from transformer import ModelConfig, StackConfig, Trace, Transformer, Translator, checkpoints
from transformer.attention import MultiHeadAttention
from transformer.checkpoints import Checkpoint
from transformer.data.tokenizers import Tokenizer
from transformer.files import write_text
from transformer.trace import KINDS
from ui.attention.heads import every_head
from ui.attention.picture import Shown, captions, layout
from ui.viewer.export import KindView, standalone_html

ROOT = Path(__file__).resolve().parents[1]
TEXT = (
    "the old house at the end of our street has a green door and nine small windows , "
    "in summer children play under its trees while somebody reads the news to a dog that never listens ."
)
LONGEST = 512  # tokens, for ours alone: BertViz would write 1.5 GB
PAINTED_UP_TO = 64  # tokens; beyond, a kind of attention is more than 200,000 lines in BertViz's page
LIMIT = 60  # seconds that a file has to paint
APP_TOKENS = 32
A_ROUND = 4  # clicks or sentences

FEWER = {64: 25, 256: 100}  # tokens -> how many times the bytes of the overview model_view should take, at least
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
    "headlight_file": "Headlight, offline file",
    "model_view": "BertViz model_view",
    "head_view": "BertViz head_view",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tokens", type=int, nargs="+", default=[16, 64, 256], help="lengths beside BertViz")
    parser.add_argument("--rounds", type=int, default=9, help=f"rounds; each has {A_ROUND} clicks")
    parser.add_argument(
        "--scripts", type=Path, help="folder of require.js, jquery.min.js and d3.min.js, for BertViz's page offline"
    )
    parser.set_defaults(run=run)


def run(tokens: list[int], rounds: int, scripts: Path | None) -> None:
    """Measures, prints and writes everything. Raises ValueError where something to measure with is missing."""
    result: dict[str, Any] = {"machine": machine("bertviz", "streamlit", "plotly", "playwright"), "rounds": rounds}
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = make_checkpoint(folder / "checkpoints" / "large")
        traces = {n: trace_of(large, n) for n in {*tokens, APP_TOKENS, LONGEST}}
        result["sizes"] = {n: sizes(traces[n], rounds) for n in tokens}
        result["sizes"][LONGEST] = {"bytes": {"headlight": overview_bytes(traces[LONGEST])}}
        print(told_sizes(result["sizes"]))
        result |= in_the_browser(folder, traces, [n for n in tokens if n <= PAINTED_UP_TO], rounds, scripts)
        print(told_times(result["files"], result["app"]))
    result["load_after"] = round(os.getloadavg()[0], 1)
    keep("showing", result, "Until every head is seen: Headlight beside BertViz", panels(result))


# ---- what is shown --------------------------------------------------------------------------------


def make_checkpoint(folder: Path) -> Translator:
    """A model with random weights: to show what it looks at costs as much as with a trained one."""
    tokenizer = Tokenizer.train([TEXT], "words", 100, min_frequency=1)
    size, stack = tokenizer.vocab_size, StackConfig(6, 8, 1024)
    sizes: dict[str, Any] = {"d_model": 256, "encoder": stack, "decoder": stack, "max_length": LONGEST + 8}
    torch.manual_seed(0)
    model = Transformer(ModelConfig(size, size, norm="pre", final_norm=True, **sizes)).eval()
    with torch.no_grad():  # untrained heads look everywhere alike; sharper, they look somewhere
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.query.weight.mul_(4)
    card = {"title": "Random weights", "source": "Words", "target": "Words", "examples": [TEXT]}
    checkpoints.save(Checkpoint(model, tokenizer, tokenizer, card), folder)
    return Translator.load(folder)


def trace_of(model: Translator, tokens: int) -> Trace:
    """A trace with so many source tokens ([EOS] included), and as many that are read and written."""
    words = TEXT.split()
    text = " ".join(words[i % len(words)] for i in range(tokens - 1))
    trace = model.trace(text, target=text)
    assert all(trace.pattern(kind).shape[2:] == (tokens, tokens) for kind in KINDS)
    return trace


# ---- bytes ----------------------------------------------------------------------------------------


def overview_bytes(trace: Trace) -> int:
    """What the overview of the three kinds sends, captions, masks and profiles included, as the page makes it."""
    shown = Shown(None, trace, trace, None, (), [])  # type: ignore[arg-type]
    return len(every_head(shown, words=False, hide=False, scale="fixed").payload)


def offline_page(trace: Trace) -> str:
    """Ours as one file: the overviews, and the weights of every head."""
    kinds: dict[str, KindView] = {}
    for kind in KINDS:
        place = layout(trace, kind, words=False, hide=False)
        patterns = place.apply(trace.pattern(kind))
        labels = place.rows, place.columns, place.reads
        kinds[kind] = KindView(patterns, place.masked, *labels, captions(patterns, place))
    return standalone_html("Headlight", kinds, ("encoder", 0, 0), "light", {})


def bertviz_page(name: str, trace: Trace) -> str:
    """The HTML of BertViz's `model_view` or `head_view`. Raises ValueError where it is not installed."""
    try:
        view = getattr(import_module("bertviz"), name)
    except ModuleNotFoundError:
        raise ValueError("BertViz is not installed: pip install -r requirements-bench.txt") from None
    layers = {f"{kind}_attention": [torch.tensor(layer)[None] for layer in trace.pattern(kind)] for kind in KINDS}
    sides = {"encoder_tokens": trace.columns("encoder"), "decoder_tokens": trace.columns("decoder")}
    html: str = view(**layers, **sides, html_action="return").data
    return html


def sizes(trace: Trace, rounds: int) -> dict[str, Any]:
    """The bytes of each, and the seconds that making them takes."""
    pages: dict[str, Callable[[], str]] = {
        "headlight_file": partial(offline_page, trace),
        "model_view": partial(bertviz_page, "model_view", trace),
        "head_view": partial(bertviz_page, "head_view", trace),
    }
    made: dict[str, Callable[[], object]] = {"headlight": partial(overview_bytes, trace), **pages}
    times = alternate(rounds, {name: seconds(make) for name, make in made.items()})
    return {
        "bytes": {"headlight": overview_bytes(trace), **{name: len(page().encode()) for name, page in pages.items()}},
        "seconds": {name: spread(values) for name, values in times.items()},
        "times_longer": {name: ratios(times[name], times["headlight"]) for name in pages},
    }


# ---- time -----------------------------------------------------------------------------------------


def in_the_browser(
    folder: Path, traces: dict[int, Trace], painted: list[int], rounds: int, scripts: Path | None
) -> dict[str, Any]:
    """Milliseconds: how long files take to paint, ours and BertViz's, and how long the app takes to answer."""
    from playwright.sync_api import sync_playwright

    from benchmarks import browser
    from tools.serving import launch, serve

    models, shipped = folder / "checkpoints", ROOT / "checkpoints" / "en-fr"
    (models / shipped.name).symlink_to(shipped, target_is_directory=True)
    trace, clicks = traces[APP_TOKENS], rounds * A_ROUND
    with sync_playwright() as playwright, patch.dict(os.environ, HEADLIGHT_CHECKPOINTS=str(models)):
        chromium = launch(playwright)
        files = {n: painting(partial(browser.opening, chromium), folder, traces[n], rounds, scripts) for n in painted}
        with serve(ROOT / "app.py", folder / "log.txt") as url:
            times = [
                browser.choosing(chromium, url, trace, clicks, "head"),
                browser.choosing(chromium, url, trace, clicks, "exact"),
                browser.switching(chromium, url, trace, clicks),
                browser.hovering(chromium, url, trace, rounds),
                browser.typing(chromium, url, Translator.load(shipped), clicks),
            ]
        app = {name: spread(values) for name, values in zip(TARGETS, times, strict=True)}
        return {"chromium": chromium.version, "files": files, "app": app}


def painting(
    opening: Callable[..., float | None], folder: Path, trace: Trace, rounds: int, scripts: Path | None
) -> dict[str, Any]:
    """From opening our file and BertViz's to their heads. BertViz's paints nothing without its scripts."""

    def task(name: str, page: str, selector: str) -> Callable[[], float]:
        path = folder / f"{name}.html"
        write_text(path, page)
        return lambda: opening(path, selector, scripts, LIMIT) or float("nan")

    tasks = {
        "headlight_file": task("headlight", offline_page(trace), ".thumb"),
        "model_view": task("model_view", bertviz_page("model_view", trace), "#vis line"),
    }
    if np.isnan(tasks["model_view"]()):
        del tasks["model_view"]
    times = alternate(rounds, tasks)
    found: dict[str, Any] = {name: spread(values) for name, values in times.items()}
    if "model_view" in times:
        found["times_longer"] = ratios(times["model_view"], times["headlight_file"])
    return found


# ---- what is told ---------------------------------------------------------------------------------


def told_sizes(found: dict[int, dict[str, Any]]) -> str:
    sizes, times = [], []
    for tokens, one in found.items():
        size, fewer = one["bytes"], ""
        if "model_view" in size:
            ratio = size["model_view"] / size["headlight"]
            fewer = f"{short(ratio)}{told_target(FEWER.get(tokens), ratio >= FEWER.get(tokens, 0))}"
            longer = one["times_longer"]["model_view"]
            made = [short(1000 * one["seconds"][name]["median"]) for name in NAMES]
            times.append([tokens, *made, told_range(longer)])
        sizes.append([tokens, *(megabytes(size[name]) if name in size else "" for name in NAMES), fewer])
    return "\n\n".join(
        [
            "Bytes to the browser",
            table(["tokens", *NAMES.values(), "times fewer than model_view"], sizes),
            "Milliseconds to make them, medians",
            table(["tokens", *NAMES.values(), "model_view / overview"], times),
        ]
    )


def told_times(files: dict[int, dict[str, Any]], app: dict[str, dict[str, float]]) -> str:
    opened, answered = [], []
    for tokens, one in files.items():
        theirs = [told_range(one[key]) if key in one else "not painted" for key in ("model_view", "times_longer")]
        opened.append([tokens, told_range(one["headlight_file"]), *theirs])
    for name, one in app.items():
        reached = told_target(TARGETS[name], one["p95"] <= (TARGETS[name] or 0))
        answered.append([name, told_range(one), f"{short(one['p95'])}{reached}", one["count"]])
    return "\n\n".join(
        [
            "\nMilliseconds from opening a file to its heads",
            table(["tokens", NAMES["headlight_file"], NAMES["model_view"], "times longer"], opened),
            f"Milliseconds from an event in the app to two frames after its answer, {APP_TOKENS} tokens",
            table(["", "median (least to most)", "95th percentile", "times"], answered),
        ]
    )


def told_target(target: int | None, reached: bool) -> str:
    return "" if target is None else f" (target {target:,}: {'reached' if reached else 'missed'})"


def told_range(found: dict[str, float]) -> str:
    return f"{short(found['median'])} ({short(found['least'])} to {short(found['most'])})"


def megabytes(count: int) -> str:
    return f"{count / 1e6:.3g} MB"


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    sizes = [
        Dot(f"{tokens} tokens, {NAMES[name]}", one["bytes"][name], megabytes(one["bytes"][name]), colour)
        for tokens, one in result["sizes"].items()
        for name, colour in (("headlight", OURS), ("model_view", THEIRS))
        if name in one["bytes"]
    ]
    files = [
        Dot(f"{tokens} tokens, {NAMES[name]}", one[name]["median"], f"{short(one[name]['median'])} ms", colour)
        for tokens, one in result["files"].items()
        for name, colour in (("headlight_file", OURS), ("model_view", THEIRS))
        if name in one
    ]
    app = [
        Dot(name, one["p95"], f"{short(one['p95'])} ms" + (f" (at most {most:,})" if most else ""), OURS, most)
        for name, most in TARGETS.items()
        for one in [result["app"][name]]
    ]
    return {
        "Bytes to the browser, 6 + 6 layers of 8 heads": sizes,
        "Milliseconds from opening a file to its heads, median": files,
        f"Milliseconds in the app at {APP_TOKENS} tokens, 95th percentile; the bar is the target": app,
    }
