"""Training speed while the app serves the run's page, against the same run alone; and how fast the page responds then.

One worker, the one that the app starts, trains on Multi30k from the beginning to the end. Windows of seconds take
turns: in one there is nothing but the worker; in the other an app serves, and a browser on the same machine watches the
run, or chooses heads on the Attention page.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.busy import Busy
from benchmarks.measure import (
    MIN_ROUNDS,
    RATIO_HEADING,
    ROOT,
    Dot,
    aim_text,
    alternate,
    keep,
    machine,
    ratio_text,
    ratios,
    short,
    spread,
    stat_dot,
    table,
)
from headlight.checkpoints import load_translator
from headlight.runs import Metrics, Recipe, RunFolder, start, status
from headlight.runs.steer import kill
from transformer import TrainConfig, preset

MIN_SPEED_RATIO = 0.85  # of the speed of training alone, while its page is watched
TEXT = "A man in a blue shirt and a woman with a red hat are sitting on a bench near the water."
SETTLE_SECONDS = 8.0  # seconds until what was begun or ended no longer counts
CHOSEN_HEADS = 20
ALONE, WATCHED = "alone", "its page watched"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--multi30k", type=Path, help="the folder of the corpus; downloaded without it")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a window is")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS)
    parser.set_defaults(run=run)


def run(multi30k: Path | None, seconds: float, rounds: int) -> None:
    """Measure, print and write everything. Raises ValueError where the worker does not train."""
    busy = Busy()
    result: dict[str, Any] = {"machine": machine("torch", "streamlit"), "rounds": rounds, "seconds": seconds}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        worker = started(folder / "runs" / "watched", endless(multi30k))
        os.environ["HEADLIGHT_RUNS"] = str(folder / "runs")
        try:
            app = App(folder / "log.txt")
            windows = {ALONE: lambda: speed(worker, seconds), WATCHED: lambda: app.watched(worker, seconds)}
            speeds = alternate(rounds, windows)
            choices = {"beside training": app.choosing()}
        finally:
            kill(worker.path)
            del os.environ["HEADLIGHT_RUNS"]
        choices["without"] = app.choosing()
    result["busy"] = busy.shares_since_begin()
    result["tokens_per_second"] = {name: spread(values) for name, values in speeds.items()}
    result["share"] = ratios(speeds[WATCHED], speeds[ALONE])
    result["choose_a_head"] = {name: spread(values) for name, values in choices.items()}
    print(report(result))
    keep("during_training", result, "Training while its page is watched", panels(result))


def endless(multi30k: Path | None) -> Recipe:
    """Return the recipe of a run that lasts longer than any measurement and only trains."""
    often = {"evaluate_every": 1_000_000, "checkpoint_every": 1_000_000}
    return Recipe(
        "multi30k:en-fr",
        preset("small", 8000, 8000),
        TrainConfig(steps=1_000_000, batch_tokens=4096, schedule="constant", **often),  # type: ignore[arg-type]
        folder=None if multi30k is None else str(multi30k),
    )


def started(path: Path, recipe: Recipe) -> RunFolder:
    """Return the run once it trains. Raises ValueError where it does not."""
    run, until = start(recipe, path), time.monotonic() + 600
    while len(Metrics(path).read()) < 5:
        run_status = status(path)
        if not run_status.alive or time.monotonic() > until:
            raise ValueError(f"The worker does not train: it is {run_status.state}. {run_status.cause}")
        time.sleep(0.5)
    return run


def speed(run: RunFolder, seconds: float) -> float:
    """Return the target tokens per second over a window, after the effects of the previous window have settled."""
    time.sleep(SETTLE_SECONDS)
    metrics = Metrics(run.path)
    before, begun = len(metrics.read()), time.perf_counter()
    while time.perf_counter() - begun < seconds or len(metrics.lines) == before:
        time.sleep(0.2)
        metrics.read()
    # From the end of one update to the end of another, so that none is counted in part.
    lines = metrics.lines[before:]
    return float(sum(line["tokens"] for line in lines) / sum(line["seconds"] for line in lines))


class App:
    """The app and a browser, started for a window and ended with it."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def watched(self, run: RunFolder, seconds: float) -> float:
        return self._with(f"/training?{urlencode({'run': run.name})}", ".facts", lambda page: speed(run, seconds))

    def choosing(self) -> list[float]:
        """Return the milliseconds from pressing a head on the Attention page to its heatmap."""
        trace = load_translator(ROOT / "checkpoints" / "en-fr").trace(TEXT)
        address = f"/?{urlencode({'model': 'en-fr', 'text': TEXT, 'layer': 1, 'head': 1})}"
        return self._with(address, ".thumb", lambda page: chosen(page, trace))

    def _with(self, address: str, sign: str, act: Callable[[Any], Any]) -> Any:
        from playwright.sync_api import sync_playwright

        from benchmarks import browser
        from tools.serving import launch, serve

        with sync_playwright() as playwright, serve(ROOT / "app.py", self.log) as url:
            page = browser.open_app(launch(playwright), f"{url}{address}", sign)
            try:
                return act(page)
            finally:
                page.context.browser.close()  # type: ignore[union-attr]


def chosen(page: Any, trace: Any) -> list[float]:
    from benchmarks import browser

    layers, heads = trace.cross.shape[:2]
    heads_in_turn = [(layer, head) for layer in range(layers) for head in range(heads)][1:]
    return [browser.choose(page, trace, *heads_in_turn[n % len(heads_in_turn)]) for n in range(3 + CHOSEN_HEADS)][3:]


def report(result: dict[str, Any]) -> str:
    speeds = [
        (name, short(stats["median"]), short(stats["least"])) for name, stats in result["tokens_per_second"].items()
    ]
    share, choices = result["share"], result["choose_a_head"]
    return "\n\n".join(
        [
            "Target tokens a second",
            table(["", "median", "least"], speeds),
            f"Watched / alone, {RATIO_HEADING}: {ratio_text(share)} (target {aim_text(share, MIN_SPEED_RATIO)})",
            "Milliseconds from choosing a head to its heatmap",
            table(
                ["", "median", "95th percentile"],
                [(n, short(c["median"]), short(c["p95"])) for n, c in choices.items()],
            ),
        ]
    )


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    alone = result["tokens_per_second"][ALONE]["median"]
    return {
        "Target tokens a second, median; the bar is 85 % of training alone": [
            stat_dot(name, stats, target=MIN_SPEED_RATIO * alone if name == WATCHED else None)
            for name, stats in result["tokens_per_second"].items()
        ],
        "Milliseconds from choosing a head to its heatmap, median": [
            stat_dot(name, stats, " ms") for name, stats in result["choose_a_head"].items()
        ],
    }
