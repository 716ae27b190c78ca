"""Pruning: the curve of the scores as more and more heads are removed, and the smaller model to download."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from headlight import checkpoints
from headlight.analysis.pruning import Pruning, Score
from headlight.analysis.pruning.checkpoint import bits_of, pruned_checkpoint
from headlight.analysis.sites import kind_of
from headlight.charts.spread import beside_spread
from headlight.formatting import percent, signed, translation_score
from headlight.glossary import term
from headlight.importers.bundle import zip_folder
from transformer import Translator
from ui.heads.measurements import MeasurementRequest, find_sets, measure_sets, of_sets
from ui.heads.view import HeadsView
from ui.heads.waiting import result_of
from ui.state.jobs import JOBS
from ui.state.queue import in_turn
from ui.state.view import bound, update, write_address
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open

HELP = (
    "Importance is the log-probability of the right translations that is lost without a head. Heads go in its order, "
    "the least important first; it is measured again every few heads, since the others matter more when some are gone. "
    "Beside it, heads in random orders (Michel et al. 2019, Voita et al. 2019)."
)
MIN_EXACT_SHARE = 0.5  # with at least this share of exact translations, the share is shown instead of BLEU


@st.fragment
def sets(name: str, model: Translator, request: MeasurementRequest) -> None:
    """Draw the section. Measuring takes minutes, so it begins only at a click or with a link that asks for it."""
    view: HeadsView = st.session_state["view"]
    request = of_sets(request)
    st.subheader("Heads in sets", anchor="heads-in-sets", help=HELP)
    if not view.sets:
        st.caption("How many heads does the model need? They are removed in order, the least important first.")
        begin = {"sets": True}
        st.button("Which heads can go?", icon=":material/content_cut:", key="sets-begin", on_click=update, kwargs=begin)
        return
    write_address()
    job = JOBS.get(
        "sets", request, partial(measure_sets, request), partial(find_sets, request), request.chosen.is_private
    )
    pruning: Pruning | None = result_of(job, "sets", request)
    if pruning is not None:
        _curves(name, model, pruning, view)


def _curves(name: str, model: Translator, pruning: Pruning, view: HeadsView) -> None:
    point = _point(pruning, view)
    removed, scores = pruning.gone[point], pruning.in_order[point]
    theme = st.context.theme.type or "light"
    exact = pruning.in_order[0].exact >= MIN_EXACT_SHARE
    left, right = st.columns(2, gap="large")
    random = f"{len(pruning.at_random)} random orders" if pruning.at_random else ""
    measures: dict[str, Callable[[Score], float]] = {"Log-probability, nats per token": lambda score: score.log_prob}
    measures |= {"Exactly right, %": lambda score: 100 * score.exact} if exact else {"BLEU": lambda score: score.bleu}
    for column, (label, value) in zip((left, right), measures.items(), strict=True):
        with column:
            curves = np.array([[value(score) for score in draw] for draw in pruning.at_random])
            importance_curve = ("in order of importance", [value(score) for score in pruning.in_order])
            chart = beside_spread(
                pruning.gone, importance_curve, (random, curves), label, "heads removed", at=removed, theme=theme
            )
            plot(chart, key=f"sets-{label.split(',')[0].lower()}")
    st.select_slider(
        "Heads removed",
        pruning.gone,
        value=removed,
        **bound("gone"),
        help="The points of the curves: importance was measured again at each.",
    )
    st.markdown(_sentence(pruning, point))
    st.caption(
        f"The order comes from {pruning.measured} sentences and is measured again every {pruning.every} heads; the "
        f"scores from {pruning.scored} others, translated greedily. "
        f"{term('log-probability', 'Log-probability')} is that of their right translations."
    )
    with st.container(horizontal=True, gap="small"):
        facts = {"heads": removed, "measured": pruning.measured, "every": pruning.every, "scores": scores._asdict()}
        st.download_button(
            "The smaller model, as a zip",
            in_turn(partial(_zip, model, pruning, removed, facts), "The smaller model"),
            f"{name.rpartition('/')[2]}-without-{removed}-heads.zip",
            "application/zip",
            icon=":material/download:",
            on_click="ignore",
            key="sets-export",
            disabled=not removed,
            help="A checkpoint without the parameters of these heads: it computes what this model does with them "
            "switched off. Checkpoints → Import opens it.",
        )
    draw_when_open("These numbers as a table", "sets-as-table", _tables, pruning, removed)


def _point(pruning: Pruning, view: HeadsView) -> int:
    """Return the number of removed heads that is shown.

    This is the view's, else the last at which less than a tenth of the probability of a token is lost.
    """
    if view.gone in pruning.gone:
        return pruning.gone.index(view.gone)
    little = [score.log_prob > pruning.in_order[0].log_prob - 0.1 for score in pruning.in_order]
    return little.index(False) - 1 if False in little else len(little) - 1


def _sentence(pruning: Pruning, point: int) -> str:
    """Say what is left, and what is saved."""
    removed, scores, complete = pruning.gone[point], pruning.in_order[point], pruning.in_order[0]
    count = len(pruning.order)
    if not removed:
        return f"With all {count} heads: {_scores(complete)}."
    text = f"Without {removed} of {count} heads: {_scores(scores)}; with all, {_scores(complete)}."
    if pruning.at_random:
        random = [draw[point] for draw in pruning.at_random]
        low, high = min(random, key=lambda score: score.log_prob), max(random, key=lambda score: score.log_prob)
        text += f" In random orders {signed(low.log_prob)} to {signed(high.log_prob)} nats per token."
    return f"{text} {pruning.saved[point]}." if pruning.saved else text


def _scores(score: Score) -> str:
    bleu, exact = translation_score(score.bleu), percent(score.exact)
    return f"{signed(score.log_prob)} nats per token, BLEU {bleu}, {exact} exactly right"


def _tables(pruning: Pruning, removed: int) -> None:
    left, right = st.columns(2, gap="medium")
    rows: dict[str, list[Any]] = {
        "Removed": list(pruning.gone),
        "Log-prob.": [score.log_prob for score in pruning.in_order],
        "BLEU": [score.bleu for score in pruning.in_order],
        "Exact": [score.exact for score in pruning.in_order],
    }
    for number, draw in enumerate(pruning.at_random, 1):
        rows[f"Random {number}"] = [score.log_prob for score in draw]
    rows["Parameters"] = [saving.parameters for saving in pruning.saved]
    rows["Time"] = [saving.seconds / saving.seconds_before for saving in pruning.saved]
    rows = {name: values for name, values in rows.items() if values}
    numbers = st.column_config.NumberColumn(format="%.3f")
    with left:
        config = {name: numbers for name in rows if name.startswith(("Log", "Random"))}
        config |= {"BLEU": st.column_config.NumberColumn(format="%.1f")}
        config |= {"Exact": st.column_config.NumberColumn(format="percent")}
        time = "Processor time of a pass over the same sentences, as a share of the whole model's; a median."
        config |= {"Time": st.column_config.NumberColumn(format="percent", help=time)}
        st.dataframe(rows, hide_index=True, key="sets-scores", column_config=config)
        st.caption("Random: log-probability in each random order.")
    with right:
        order = {
            "Order": list(range(1, len(pruning.order) + 1)),
            "Head": [f"{kind_of(head.site)} {head.site.layer + 1}.{head.head + 1}" for head in pruning.order],
            "Importance": [head.importance for head in pruning.order],
            "Removed": [number < removed for number in range(len(pruning.order))],
        }
        digits = st.column_config.NumberColumn(format="%.4f", help="Measured at its removal; nats per token.")
        st.dataframe(order, hide_index=True, key="sets-order", column_config={"Importance": digits})
        st.caption("Kind, layer and head, in order of removal.")


def _zip(model: Translator, pruning: Pruning, removed: int, facts: dict[str, Any]) -> bytes:
    """Return the folder of the model without the first `removed` heads, as a zip."""
    smaller = pruned_checkpoint(model.checkpoint, pruning.first(removed), facts)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory) / "pruned"
        checkpoints.save(smaller, folder, bits_of(smaller.model))
        zip_folder(folder, out := Path(directory) / "pruned.zip")
        return out.read_bytes()
