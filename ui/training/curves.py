"""A run's curves and the numbers above them as a message to the browser: thinned, and in units that people read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import streamlit as st

from headlight.formatting import brief, duration, on_sentences, percent, plural, translation_score
from headlight.runs import MIN_SENTENCES, Status
from headlight.runs.metrics import SENTENCES_FIELD
from headlight.runs.preparing import NONE_HELD_OUT_NOTE, TRAINING_SCORES_NOTE
from headlight.viewer.packing import pack
from transformer import TrainConfig
from transformer.training import learning_rate
from ui.state.view import bound, update
from ui.training.series import Columns, Floats, scores, smoothed, speeds, thinned
from ui.training.shelf import FAILED_STATES, doing
from ui.training.view import MAX_SMOOTH_PERCENT
from ui.viewer.component import component

# In the browser, the last three share the selected step.
RUNS = component("runs", "mountRuns", "shared", "icons", "training", "runs", styles=("training",))
CURVES = component("curves", "mountCurves", "shared", "icons", "training", "curves", styles=("training",))
FILM = component("film", "mountFilm", "shared", "icons", "training", "film", styles=("training",))
WRITES = component("writes", "mountWrites", "shared", "icons", "training", "writes", styles=("training",))
SCHEDULE_POINTS = 60  # points of the learning rate that is still to come
MAX_START_RATIO = 1.6  # how far the start of a curve may rise above the rest before it is cut off

Style = str  # "main", "thin", "second", "third", "ahead" or "level"


@dataclass(frozen=True)
class Watched:
    """A run whose curves are drawn."""

    status: Status
    config: TrainConfig
    columns: Columns


@dataclass
class CurveLine:
    name: str
    style: Style
    x: Floats
    y: Floats
    run: int = 0


@dataclass
class Chart:
    title: str
    unit: str
    lines: list[CurveLine] = field(default_factory=list)


def charts(runs: Sequence[Watched], smooth: int = 0) -> list[Chart]:
    """Return the six charts, and a seventh where scheduled sampling is on.

    Of several runs, only the lines that can be told apart are drawn. Values of every step, which are noisy, are
    smoothed by `smooth` percent, and called a mean.
    """
    note = ", mean" if smooth else ""

    def calm(columns: Columns, values: Floats) -> tuple[Floats, Floats]:
        return thinned(columns.step, smoothed(values, smooth / 100) if smooth else values)

    alone = len(runs) == 1
    loss, perplexity = Chart("Loss", "nats per token"), Chart("Perplexity", "")
    score, rate = Chart("Score", "" if alone else "chrF"), Chart("Learning rate", "")
    norm, speed = Chart("Gradient norm", ""), Chart("Tokens per second", "")
    forcing = Chart("Teacher forcing", "share of the target tokens")
    for number, run in enumerate(runs):
        columns, config = run.columns, run.config
        train, validation = calm(columns, columns.loss), scores(columns.evaluations, "loss")
        loss.lines.append(CurveLine(f"training{note}", "thin", *train, number))
        loss.lines.append(CurveLine("validation", "main", *validation, number))
        if alone:
            perplexity.lines.append(CurveLine(f"training{note}", "thin", train[0], _exp(train[1]), number))
        perplexity.lines.append(CurveLine("validation", "main", validation[0], _exp(validation[1]), number))
        score.lines += _scores(columns, number, alone)
        rate.lines.append(CurveLine("now", "second", *thinned(columns.step, columns.learning_rate), number))
        rate.lines.append(CurveLine("scheduled", "ahead", *_ahead(config, columns), number))
        norm.lines.append(CurveLine(f"before clipping{note}", "second", *calm(columns, columns.gradient_norm), number))
        if alone and config.clip:
            ends = np.array([0.0, float(config.steps)])
            norm.lines.append(CurveLine("clipped to", "level", ends, np.full(2, config.clip)))
        speed.lines.append(CurveLine("mean of several steps", "second", *speeds(columns), number))
        if config.scheduled_sampling != "never":
            forcing.lines.append(
                CurveLine("read from the corpus", "second", *thinned(columns.step, columns.teacher_forcing), number)
            )
    return [loss, perplexity, score, rate, norm, speed, *([forcing] if forcing.lines else [])]


def _exp(loss: Floats) -> Floats:
    """Return the exponential, finite in the float32 of the message."""
    return np.exp(np.minimum(loss, 80.0))


def _scores(columns: Columns, number: int, alone: bool) -> list[CurveLine]:
    bleu, chrf, exact = (scores(columns.evaluations, name) for name in ("bleu", "chrf", "exact"))
    if not alone:
        return [CurveLine("chrF", "main", *chrf, number)]
    right = CurveLine("exactly right, %", "third", exact[0], 100 * exact[1])
    if len(bleu[1]) and not bleu[1].any():  # BLEU counts sequences of four words, which single words do not have
        return [replace(right, style="main"), CurveLine("chrF", "second", *chrf)]
    return [CurveLine("BLEU", "main", *bleu), CurveLine("chrF", "second", *chrf), replace(right, name="exact, %")]


def _ahead(config: TrainConfig, columns: Columns) -> tuple[Floats, Floats]:
    """Return the rest of the schedule, from the latest step on."""
    last = int(columns.step[-1]) if len(columns) else 0
    if last >= config.steps:
        return np.zeros(0), np.zeros(0)
    steps = np.unique(np.linspace(max(last, 1), config.steps, SCHEDULE_POINTS).astype(int))
    peak = min(max(config.warmup, 1), config.steps)  # between two points it would be cut off
    steps = np.union1d(steps, [peak]) if peak > last else steps
    return steps.astype(np.float64), np.array([learning_rate(int(step), config) for step in steps])


def limit(chart: Chart, reached: float) -> float:
    """Return where the vertical axis ends: a steep start is cut off, so that the rest is seen."""
    lines = [line for line in chart.lines if line.style != "level"]
    values = [line.y[np.isfinite(line.y)] for line in lines]
    after_start = [line.y[(line.x >= 0.1 * reached) & np.isfinite(line.y)] for line in lines]
    top, usual = (max((float(y.max()) for y in curves if len(y)), default=0.0) for curves in (values, after_start))
    if usual > 0 and top > MAX_START_RATIO * usual:
        return 1.05 * usual
    return 1.05 * top or 1.0


def payload(runs: Sequence[Watched], step: int | None, smooth: int = 0) -> bytes:
    """Return the message to curves.js: the first run's numbers, and the curves of all."""
    first, arrays, listed = runs[0].status, {}, []
    reached_steps = [float(run.columns.step[-1]) for run in runs if len(run.columns)]
    last = max([float(run.status.steps) for run in runs] + reached_steps, default=1.0)
    for number, chart in enumerate(charts(runs, smooth)):
        reached = max((float(line.x[-1]) for line in chart.lines if len(line.x) and line.style != "ahead"), default=0.0)
        top = limit(chart, reached)
        lines = []
        for index, line in enumerate(chart.lines):
            key = f"{number}-{index}"
            arrays[f"x{key}"], arrays[f"y{key}"] = line.x.astype(np.float32), line.y.astype(np.float32)
            lines.append({"name": line.name, "style": line.style, "run": line.run, "key": key})
        highest = max((float(np.nanmax(line.y)) for line in chart.lines if len(line.y)), default=0.0)
        cut = brief(highest) if highest > top else None
        listed.append({"title": chart.title, "unit": chart.unit, "top": top, "cut": cut, "lines": lines})
    header = {
        "runs": [run.status.name for run in runs],
        "steps": max(last, 1.0),
        "step": step,
        "charts": listed,
        "facts": facts(runs[0]),
        "progress": min(1.0, first.step / first.steps) if first.steps else 0.0,
        "tone": "bad" if first.state in FAILED_STATES else "go" if first.alive else "calm",
        "saved": saved(first),
    }
    return pack(header, arrays)


def facts(run: Watched) -> list[dict[str, str]]:
    """Return the most important numbers: label, value, and a small addition."""
    status, columns = run.status, run.columns
    step = max(status.step, int(columns.step[-1]) if len(columns) else 0)
    numbers = [_fact("Step", f"{step:,}", f"of {status.steps:,}"), _time(status, columns)]
    speed = columns.recent_speed
    numbers.append(_fact("Tokens per second", brief(speed) if speed else "–"))
    latest = columns.evaluations[-1] if columns.evaluations else {}
    loss, exact, bleu = (latest.get(name) for name in ("loss", "exact", "bleu"))
    on = on_sentences(latest.get(SENTENCES_FIELD))
    numbers.append(_fact("Validation loss", brief(loss) if isinstance(loss, int | float) else "–"))
    if isinstance(exact, int | float) and (not bleu or exact > 0.9):
        numbers.append(_fact("Exactly right", percent(exact, 1), on))
    elif isinstance(bleu, int | float):
        numbers.append(_fact("BLEU", translation_score(bleu), on))
    else:
        numbers.append(_fact("BLEU", "–"))
    return numbers


def cautions(columns: Columns, doubled: int, by_heart: bool = False) -> list[str]:
    """Return cautions about the scores.

    The scores may be computed on the training pairs (`by_heart`) or on few sentences, or `doubled` validation pairs may
    have been left out since they are also training pairs.
    """
    if by_heart:
        return [f"{NONE_HELD_OUT_NOTE} {TRAINING_SCORES_NOTE}"]
    count = columns.evaluations[-1].get(SENTENCES_FIELD) if columns.evaluations else None
    sentences = []
    if type(count) is int and count < MIN_SENTENCES:
        sentences.append(
            f"The scores are {on_sentences(count)}: on fewer than {MIN_SENTENCES} they say little. Give the run "
            "a larger corpus to validate on."
        )
    if doubled:
        sentences.append(
            f"{plural(doubled, 'validation pair is', 'validation pairs are')} also in the training data, and left out "
            "of the validation."
        )
    return sentences


def parts(columns: Columns) -> list[str]:
    """Return the last evaluation's score for each corpus of a mixture: BLEU, or how much was exactly right."""
    by_corpus = columns.evaluations[-1].get("parts", {}) if columns.evaluations else {}
    texts = []
    for name, of in by_corpus.items():
        bleu, exact = (of.get(score) for score in ("bleu", "exact"))
        if isinstance(exact, int | float) and exact > 0.9:
            texts.append(f"{name} {percent(exact, 1)} exactly right {on_sentences(of.get(SENTENCES_FIELD))}".rstrip())
        elif isinstance(bleu, int | float):
            texts.append(f"{name} BLEU {translation_score(bleu)} {on_sentences(of.get(SENTENCES_FIELD))}".rstrip())
    return texts


def _time(status: Status, columns: Columns) -> dict[str, str]:
    if status.state == "running" and doing(status) != "Running":
        return _fact("Now", doing(status))
    if status.alive:
        left = status.seconds_left
        return _fact("Time left", duration(left) if left is not None else "–")
    return _fact("Trained for", duration(float(np.nansum(columns.seconds))) if len(columns) else "–")


def _fact(label: str, value: str, small: str = "") -> dict[str, str]:
    return {"label": label, "value": value, "small": small}


def saved(run: Status) -> str:
    if run.saved is None or run.saved_step is None:
        return ""
    return f"Checkpoint of step {run.saved_step:,} saved {duration(time.time() - run.saved)} ago"


def draw(runs: Sequence[Watched], step: int | None, smooth: int = 0) -> None:
    CURVES(data=payload(runs, step, smooth), key="curves", on_pick_change=lambda: take_step("curves"))
    st.slider(
        "Smoothing of the curves of each step, in percent",
        0,
        MAX_SMOOTH_PERCENT,
        smooth,
        **bound("smooth"),
        width=330,
        help="Draws their exponential moving mean: at 90, each value counts a tenth and what was before the rest. "
        "Scores of evaluations are never smoothed.",
    )


def take_step(key: str) -> None:
    """Take the selected step into the view, so that the address has it."""
    match st.session_state[key].get("pick"):
        case {"step": int(step)} if 0 <= step <= 100_000_000:
            update(step=step)
