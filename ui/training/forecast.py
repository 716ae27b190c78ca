"""Forecast of a run: parameters, memory, disk and time, before it is started."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import cast

import streamlit as st

from headlight.corpora.preview import Preview
from headlight.formatting import brief, duration, file_size, in_millions, plural
from headlight.machine import threads
from headlight.runs import Recipe, statuses
from headlight.runs.cautions import cautions, shared
from headlight.runs.estimate import Speed, estimate, measure
from ui.state import models
from ui.state.jobs import Job, Jobs
from ui.widgets.fragments import own_fragment
from ui.widgets.table import facts_html
from ui.widgets.text import literal

ROWS = ("Parameters", "Memory", "Disk", "Epochs", "One epoch", "The whole run")
UPDATE_SECONDS = 0.7  # between two looks at a measurement
# Measurements of speed, each in a process of its own and one at a time: two would slow each other. They are not among
# JOBS, which can take many minutes.
SPEEDS = Jobs()
# In the session: the latest request, and the network that is to be measured though a run trains.
_LATEST, _WANTED = "speed-latest", "speed-wanted"


def forecast(recipe: Recipe | None, preview: Preview | None) -> None:
    """Draw the forecast; the time is measured in the background, unless a training is going on."""
    if recipe is None:
        st.html(facts_html("estimates", [(row, "–") for row in ROWS]))
        return
    alive = [run for run in statuses(models.RUNS) if run.alive]
    job: Job[Speed] | None = None
    wanted: Hashable = None
    if preview is not None:
        sized = _with_vocabularies(recipe, preview)
        wanted = sized.model, *_lengths(preview)
        begin = not alive or st.session_state.get(_WANTED) == wanted
        job = speed_job(sized, *_lengths(preview), begin)
    pending = job is not None and not job.done
    own_fragment(_estimated, recipe, preview, job, pending, run_every=UPDATE_SECONDS if pending else None)
    for caution in [*cautions(recipe, preview), *shared(recipe.threads, alive)]:
        st.caption(f":orange[:material/warning:] {literal(caution)}")
    if preview is not None and job is None:
        st.button(
            "Measure the time",
            icon=":material/timer:",
            key="measure-time",
            help="A run is training; measuring slows it down for a few seconds.",
            on_click=lambda: st.session_state.update({_WANTED: wanted}),
        )


def _estimated(recipe: Recipe, preview: Preview | None, job: Job[Speed] | None, pending: bool) -> None:
    speed, refused = None, ""
    if job is not None and job.done:
        if pending:
            st.rerun()
        if isinstance(job.error, ValueError):
            refused = str(job.error)
        elif job.error is not None:
            refused = "The time could not be measured."
        speed = job.result
    cost = estimate(recipe, preview, speed)
    unknown = "measuring" if pending else "–"
    steps = cost.updates_per_epoch
    texts = [
        in_millions(cost.parameters),
        file_size(cost.memory),
        file_size(cost.disk),
        brief(recipe.training.steps / steps) if steps else "–",
        duration(cost.seconds_per_epoch) if cost.seconds_per_epoch else unknown,
        duration(cost.seconds) if cost.seconds else unknown,
    ]
    st.html(facts_html("estimates", zip(ROWS, texts, strict=True)))
    if speed:
        used = plural(threads(recipe.threads), "core")
        st.caption(f"Measured on this machine: {speed.tokens_per_second:,.0f} tokens per second on {used}.")
    if refused:
        st.caption(f":red[{literal(refused)}]")


def _with_vocabularies(recipe: Recipe, preview: Preview) -> Recipe:
    """Return the recipe with the sizes that the vocabularies will have."""
    source, target = max(preview.source.vocabulary, 8), max(preview.target.vocabulary, 8)
    return replace(recipe, model=replace(recipe.model, source_vocab_size=source, target_vocab_size=target))


def _lengths(preview: Preview) -> tuple[int, int]:
    """Return the mean length of a sentence on each side, in tokens."""
    source, target = (round(sum(side.lengths) / len(side.lengths)) for side in (preview.source, preview.target))
    return max(source, 2), max(target, 2)


def speed_job(recipe: Recipe, source_length: int, target_length: int, begin: bool) -> Job[Speed] | None:
    """Return the measurement of a recipe's speed, which is started if `begin`; None where there is none.

    A session drops its latest one if that has not begun: each letter that is typed can ask for another.
    """
    request = _speed_request(recipe, source_length, target_length)
    job = SPEEDS.started("speed", request)
    if job is None and begin:
        latest = st.session_state.get(_LATEST)
        previous = SPEEDS.started("speed", latest)
        if previous is not None and previous.is_waiting:
            SPEEDS.drop("speed", latest)
        st.session_state[_LATEST] = request
        job = SPEEDS.get("speed", request, lambda progress: measure(recipe, source_length, target_length))
    return cast("Job[Speed] | None", job)


def _speed_request(recipe: Recipe, source_length: int, target_length: int) -> Hashable:
    """Return what the speed depends on."""
    training = recipe.training
    cost = (training.batch_tokens, training.accumulate, training.precision)
    return recipe.model, *cost, threads(recipe.threads), source_length, target_length
