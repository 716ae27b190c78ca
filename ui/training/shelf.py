"""The list of the page: the runs, and the models that have snapshots, shipped ones and saved ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from headlight.formatting import duration, on_sentences, percent, plural, translation_score
from headlight.runs import RunFolder, Status, notes, statuses
from headlight.runs.metrics import SENTENCES_FIELD
from transformer.checkpoint.native import CONFIG
from ui.state import models
from ui.state.models import latest_scores
from ui.training.view import SHIPPED_PREFIX

Tone = Literal["go", "calm", "bad"]
FAILED_STATES = ("crashed", "stalled", "diverged", "out of disk")


@dataclass(frozen=True)
class Shipped:
    """A model with snapshots of its training: one that ships, or "models/NAME", which the user saved."""

    name: str
    folder: Path
    snapshots: int

    @property
    def id(self) -> str:
        return self.name if self.name.startswith(models.IMPORTED_PREFIX) else SHIPPED_PREFIX + self.name


@dataclass(frozen=True)
class Item:
    """A line of the list: `word` is the state, `rest` the remaining text, `share` the progress or None."""

    id: str
    name: str
    icon: str
    tone: Tone
    word: str
    rest: str
    share: float | None = None
    tags: tuple[str, ...] = ()


def runs() -> list[Status]:
    """Return every run, the latest first."""
    return statuses(models.RUNS)


def shipped() -> list[Shipped]:
    included = []
    for prefix, folder in (("", models.CHECKPOINTS), (models.IMPORTED_PREFIX, models.MODELS)):
        for config in sorted(folder.glob(f"[!.]*/{CONFIG}")):
            count = len(list(config.parent.glob("history/step-*.safetensors")))
            if count:
                included.append(Shipped(prefix + config.parent.name, config.parent, count))
    return included


def shipped_item(model: Shipped) -> Item:
    return Item(model.id, model.name, "book", "calm", "Model", f", {plural(model.snapshots, 'snapshot')}")


def run_item(run: Status) -> Item:
    return replace(_run_item(run), tags=notes(RunFolder(run.folder)).tags)


def _run_item(run: Status) -> Item:
    share = run.step / run.steps if run.steps else 0.0
    at = f" at step {run.step:,}"
    item = partial(Item, run.name, run.name)
    match run.state:
        case "queued":
            return item("wave", "go", "Starting", "", share)
        case "running":
            left = f", {duration(run.seconds_left)} left" if run.seconds_left is not None and _trains(run) else ""
            return item("wave", "go", doing(run), f", {percent(share)}{left}", share)
        case "paused":
            return item("pause", "calm", "Paused", f"{at} of {run.steps:,}", share)
        case "stopped":
            return item("stop", "calm", "Stopped", f"{at} of {run.steps:,}", share)
        case "finished":
            return item("check", "calm", "Finished", _result(run))
        case "stalled":
            return item("warn", "bad", "Stalled", f"{at}. It may only be slow", share)
        case "diverged":
            return item("warn", "bad", "Diverged", f"{at}. Start again with a lower learning rate")
        case "out of disk":
            return item("warn", "bad", "Out of disk", f"{at}. Free some space, then resume")
        case _ if run.saved_step is None:
            return item("warn", "bad", "Crashed", " before the first step. Start again")
        case _:
            return item("warn", "bad", "Crashed", f"{at}. Resume from {run.saved_step:,}")


def doing(run: Status) -> str:
    """Return what a running worker is doing, as a word or two."""
    return "Running" if _trains(run) else run.doing.capitalize()


def _trains(run: Status) -> bool:
    return run.doing in ("training", "evaluating", "")


def _result(run: Status) -> str:
    score = latest_scores(run.folder)
    return f", {score_text(score)}" if score else ""


def score_text(score: Mapping[str, Any]) -> str:
    """Return BLEU, or the exact share where it says more: BLEU counts four words in a row, which letter tasks lack."""
    bleu, exact = score.get("bleu"), score.get("exact")
    if isinstance(exact, float) and (not bleu or exact > 0.9):
        text = f"{percent(exact, 1)} exact"
    else:
        text = f"BLEU {translation_score(bleu)}" if isinstance(bleu, int | float) else ""
    return f"{text} {on_sentences(score.get(SENTENCES_FIELD))}".strip() if text else ""
