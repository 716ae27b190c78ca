"""Time from an arrow key to the next step painted: decoding token by token, and a head's anatomy stage by stage."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import torch

from benchmarks.busy import Busy
from benchmarks.measure import ROOT, Dot, keep, machine, range_text, short, spread, stat_dot, table
from benchmarks.showing_report import target_text
from headlight.checkpoints import load_translator

TARGET_MILLISECONDS = 200  # at the 95th percentile, at most
STAGES = 9
TEXT = (
    "A man in a blue shirt and a woman with a red hat are sitting on a bench near the water while two children "
    "play with a small dog in the grass."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="times that all steps are gone through, to and fro")
    parser.set_defaults(run=run)


def run(rounds: int) -> None:
    """Measure, print and write everything."""
    from playwright.sync_api import sync_playwright

    from benchmarks import browser
    from tools.serving import launch, serve

    busy = Busy()
    torch.set_num_threads(1)
    result: dict[str, Any] = {"machine": machine("streamlit", "playwright"), "rounds": rounds}
    n_tokens = len(load_translator(ROOT / "checkpoints" / "en-fr").trace(TEXT).writes.labels)
    result["tokens"] = n_tokens
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = launch(playwright)
        with serve(ROOT / "app.py", Path(folder) / "log.txt") as url:
            text = urlencode({"text": TEXT})
            decoding, anatomy = f"{url}/decoding?{text}&strategy=beam&size=5", f"{url}/anatomy?{text}&kind=decoder"
            player = browser.Stepper(decoding, ".track", ".player", "data-step", "{}", n_tokens)
            walk = browser.Stepper(anatomy, ".board", ".where", None, "Stage {} of", STAGES)
            times = {
                "decoding, beam 5": browser.stepping(chromium, player, rounds),
                "anatomy of a head": browser.stepping(chromium, walk, rounds),
            }
    result["milliseconds"] = {name: spread(values) for name, values in times.items()}
    result["busy"] = busy.shares_since_begin()
    print(report(result))
    keep("stepping", result, "From a key to the next step painted", panels(result))


def report(result: dict[str, Any]) -> str:
    rows = []
    for name, stats in result["milliseconds"].items():
        reached = target_text(TARGET_MILLISECONDS, stats["p95"] <= TARGET_MILLISECONDS)
        rows.append([name, range_text(stats), f"{short(stats['p95'])}{reached}", stats["count"]])
    head = ["", "median (least to most)", "95th percentile", "steps"]
    return f"Milliseconds from a key to two frames after the step, {result['tokens']} tokens written\n\n" + table(
        head, rows
    )


def panels(result: dict[str, Any]) -> dict[str, list[Dot]]:
    return {
        "Milliseconds, 95th percentile; the bar is the target": [
            stat_dot(
                name, stats, f" ms (at most {TARGET_MILLISECONDS})", target=TARGET_MILLISECONDS, statistic="p95"
            )
            for name, stats in result["milliseconds"].items()
        ]
    }
