"""Time from an arrow key to the next step painted: decoding token by token, and a head's anatomy stage by stage."""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import torch
from playwright.sync_api import Browser

from benchmarks import browser
from benchmarks.measure import ROOT, range_text, reached_text, short, spread, table
from headlight.checkpoints import load_translator
from tools.serving import wait_until_idle

TARGET_MILLISECONDS = 200  # at the 95th percentile, at most
STAGES = 9
TEXT = (
    "A man in a blue shirt and a woman with a red hat are sitting on a bench near the water while two children "
    "play with a small dog in the grass."
)


class Stepper(NamedTuple):
    """A page that arrow keys step through: what takes the keys, and what tells the step, in `attribute` or as text."""

    url: str
    focus: str
    selector: str
    attribute: str | None
    step_text: str  # how the step is told, "Stage {} of"
    steps: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="times that all steps are gone through, to and fro")


def run(rounds: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    n_tokens = len(load_translator(ROOT / "checkpoints" / "en-fr").trace(TEXT).writes.labels)
    with tempfile.TemporaryDirectory() as folder, browser.app(Path(folder) / "log.txt") as (chromium, url):
        text = urlencode({"text": TEXT})
        decoding, anatomy = f"{url}/decoding?{text}&strategy=beam&size=5", f"{url}/anatomy?{text}&kind=decoder"
        player = Stepper(decoding, ".track", ".player", "data-step", "{}", n_tokens)
        walk = Stepper(anatomy, ".board", ".where", None, "Stage {} of", STAGES)
        times = {
            "decoding, beam 5": stepping(chromium, player, rounds),
            "anatomy of a head": stepping(chromium, walk, rounds),
        }
    milliseconds = {name: spread(values) for name, values in times.items()}
    return {"rounds": rounds, "tokens": n_tokens, "milliseconds": milliseconds}


def stepping(chromium: Browser, stepper: Stepper, rounds: int) -> list[float]:
    """Return the milliseconds from each arrow key to the step that it asks for: forward to the last step, and back."""
    page = browser.open_app(chromium, stepper.url, stepper.selector)
    forward, backward = range(2, stepper.steps + 1), range(stepper.steps - 1, 0, -1)
    times = []
    for _ in range(rounds + 1):
        page.locator(stepper.focus).first.focus()
        page.keyboard.press("Home")
        wait_until_idle(page)
        for step, key in [*((s, "ArrowRight") for s in forward), *((s, "ArrowLeft") for s in backward)]:
            value = stepper.step_text.format(step)
            expected = {"place": stepper.selector, "attribute": stepper.attribute, "value": value}
            times.append(browser.time_event(page, "keydown", "step", expected, partial(page.keyboard.press, key)))
    return times[2 * (stepper.steps - 1) :]  # without the first round


def report(result: dict[str, Any]) -> str:
    rows = [
        [name, range_text(stats), short(stats["p95"]), reached_text(stats["p95"], TARGET_MILLISECONDS), stats["count"]]
        for name, stats in result["milliseconds"].items()
    ]
    head = ["", "median (least to most)", "95th percentile", "target", "steps"]
    return f"Milliseconds from a key to two frames after the step, {result['tokens']} tokens written\n\n" + table(
        head, rows
    )
