"""Forecast of a run: parameters, memory, disk and time, before it is started."""

from __future__ import annotations

import streamlit as st

from headlight.corpora.preview import Preview
from headlight.formatting import brief, duration, file_size, in_millions, plural
from headlight.machine import threads
from headlight.runs import Recipe, statuses
from headlight.runs.cautions import cautions, shared
from headlight.runs.estimate import estimate
from ui.state import models
from ui.training import draft
from ui.training.measuring import measurements
from ui.widgets.table import facts_html
from ui.widgets.text import literal

ROWS = ("Parameters", "Memory", "Disk", "Epochs", "One epoch", "The whole run")


def forecast(recipe: Recipe | None, preview: Preview | None) -> None:
    """Draw the forecast; the time is measured in the background, unless a training is going on."""
    if recipe is None:
        st.html(facts_html("estimates", [(row, "–") for row in ROWS]))
        return
    alive = [run for run in statuses(models.RUNS) if run.alive]
    busy = bool(alive)
    pending = unasked = False
    if preview is not None:
        wish = ("measure", _lengths(preview), repr(recipe.model))
        begin = not busy or st.session_state.get("measure") == wish
        measuring = measurements().get(draft.fitted(recipe, *_vocabulary(preview)), *_lengths(preview), begin)
        pending = measuring is not None and not measuring.done()
        unasked = measuring is None
    st.fragment(_estimated, run_every=0.7 if pending else None)(recipe, preview, pending)
    for caution in [*cautions(recipe, preview), *shared(recipe.threads, alive)]:
        st.caption(f":orange[:material/warning:] {literal(caution)}")
    if unasked:
        st.button(
            "Measure the time",
            icon=":material/timer:",
            key="measure-time",
            help="A run is training; measuring slows it down for a few seconds.",
            on_click=lambda: st.session_state.update(measure=wish),
        )


def _estimated(recipe: Recipe, preview: Preview | None, pending: bool) -> None:
    speed, refused = None, ""
    if preview is not None:
        measuring = measurements().get(draft.fitted(recipe, *_vocabulary(preview)), *_lengths(preview), begin=False)
        is_measured = measuring is not None and measuring.done()
        if pending and (is_measured or measuring is None):  # there is none where another request displaced it
            st.rerun()
        if measuring is not None and is_measured:
            if error := measuring.exception():
                refused = str(error) if isinstance(error, ValueError) else "The time could not be measured."
            else:
                speed = measuring.result()
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


def _vocabulary(preview: Preview) -> tuple[int, int]:
    return preview.source.vocabulary, preview.target.vocabulary


def _lengths(preview: Preview) -> tuple[int, int]:
    """Return the mean length of a sentence on each side, in tokens."""
    source, target = (round(sum(side.lengths) / len(side.lengths)) for side in (preview.source, preview.target))
    return max(source, 2), max(target, 2)
