"""What there is to look at: the runs, and the shipped models that kept a history of their training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from transformer.checkpoints.native import CONFIG
from transformer.files import open_regular, read_json
from transformer.training import RunFolder, Status, statuses
from transformer.training.metrics import sound_line
from ui import resources
from ui.public import card_without_places
from ui.training.view import SHIPPED
from ui.training.words import duration, plural

Tone = Literal["go", "calm", "bad"]
FAILED = ("crashed", "stalled", "diverged", "out of disk")
TAIL = 1_000_000  # bytes at the end of the metrics in which the latest scores are looked for


@dataclass(frozen=True)
class Shipped:
    """A model in checkpoints/ with snapshots of its training."""

    name: str
    folder: Path
    snapshots: int

    @property
    def id(self) -> str:
        return SHIPPED + self.name


@dataclass(frozen=True)
class Item:
    """A line of the list: `word` is the state, `rest` what there is to say of it, `share` how far it is or None."""

    id: str
    name: str
    icon: str
    tone: Tone
    word: str
    rest: str
    share: float | None = None


def runs() -> list[Status]:
    """Every run, the latest first."""
    return statuses(resources.RUNS)


def shipped() -> list[Shipped]:
    found = []
    for config in sorted(resources.CHECKPOINTS.glob(f"*/{CONFIG}")):
        count = len(list(config.parent.glob("history/step-*.safetensors")))
        if count:
            found.append(Shipped(config.parent.name, config.parent, count))
    return found


def shipped_item(model: Shipped) -> Item:
    return Item(model.id, model.name, "book", "calm", "Shipped", f", {plural(model.snapshots, 'snapshot')}")


def run_item(run: Status) -> Item:
    share = run.step / run.steps if run.steps else 0.0
    at = f" at step {run.step:,}"
    match run.state:
        case "queued":
            return Item(run.name, run.name, "wave", "go", "Starting", "", share)
        case "running":
            left = f", {duration(run.seconds_left)} left" if run.seconds_left is not None and _trains(run) else ""
            return Item(run.name, run.name, "wave", "go", doing(run), f", {share:.0%}{left}", share)
        case "paused":
            return Item(run.name, run.name, "pause", "calm", "Paused", f"{at} of {run.steps:,}", share)
        case "stopped":
            return Item(run.name, run.name, "stop", "calm", "Stopped", f"{at} of {run.steps:,}", share)
        case "finished":
            return Item(run.name, run.name, "check", "calm", "Finished", _result(run))
        case "stalled":
            return Item(run.name, run.name, "warn", "bad", "Stalled", f"{at}. It may only be slow", share)
        case "diverged":
            return Item(run.name, run.name, "warn", "bad", "Diverged", f"{at}. Start again with a lower learning rate")
        case "out of disk":
            return Item(run.name, run.name, "warn", "bad", "Out of disk", f"{at}. Make room, then resume")
        case _:
            if run.saved_step is None:
                return Item(run.name, run.name, "warn", "bad", "Crashed", " before the first step. Start again")
            return Item(run.name, run.name, "warn", "bad", "Crashed", f"{at}. Resume from {run.saved_step:,}")


def doing(run: Status) -> str:
    """What a running worker is at, as a word or two."""
    if _trains(run):
        return "Running"
    return run.doing.capitalize() if run.doing else "Running"


def _trains(run: Status) -> bool:
    return run.doing in ("training", "evaluating", "")


def _result(run: Status) -> str:
    score = latest_scores(str(run.folder), _size(run.folder))
    return f", {score_text(score)}" if score else ""


def score_text(score: Mapping[str, Any]) -> str:
    """BLEU, or the share exactly right where that says more: words of letters have no four in a row to count."""
    bleu, exact = score.get("bleu"), score.get("exact")
    if isinstance(exact, float) and (not bleu or exact > 0.9):
        return f"{exact:.1%} exact"
    return f"BLEU {bleu:.1f}" if isinstance(bleu, int | float) else ""


def _size(folder: Path) -> int:
    try:
        return RunFolder(folder).metrics.stat().st_size
    except OSError:
        return 0


@st.cache_data(max_entries=200, show_spinner=False)
def latest_scores(folder: str, size: int) -> dict[str, Any]:
    """The scores of the latest evaluation of a run whose metrics have that size; nothing where there are none."""
    try:
        with open_regular(RunFolder(folder).metrics) as file:
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).splitlines()
    except (OSError, ValueError):
        return {}
    for line in reversed(lines):
        if b'"evaluation"' in line and (found := sound_line(line)) is not None:
            return dict(found["evaluation"])
    return {}


def card(folder: Path) -> dict[str, Any]:
    """A model's card as visitors may read it, or nothing where it has none that can be read."""
    try:
        values = read_json(folder / "card.json")
    except ValueError:
        return {}
    return card_without_places(values) if isinstance(values, dict) else {}
