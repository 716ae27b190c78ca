"""The page's body: the request, its progress, and the measurements."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.analysis.atlas.report import History, facts, numbers
from headlight.folders import COMMAND
from headlight.formatting import signed
from headlight.viewer.packing import pack
from transformer import Translator
from transformer.trace import KINDS
from ui.heads.corpus import ChosenCorpus, choose_corpus
from ui.heads.head import chosen_head, chosen_measure, head
from ui.heads.measurements import (
    MeasuredAtlas,
    MeasurementRequest,
    find,
    find_history,
    history_files,
    measure,
    measure_history,
    of_sets,
)
from ui.heads.payload import header
from ui.heads.sets import sets
from ui.heads.slices import slices
from ui.heads.table import table
from ui.heads.view import HeadsView
from ui.heads.waiting import at_work, explanation, mark_in_use, result_of, wait
from ui.state.atlases import EXAMPLES, digest_of
from ui.state.jobs import JOBS, Job
from ui.state.models import version
from ui.state.view import update, write_address
from ui.viewer.component import component
from ui.widgets.controls import choose

_ATLAS = component("atlas", "mountAtlas", "icons", "shared", "atlas", styles=("atlas",))


def body(name: str, model: Translator, view: HeadsView, actions: DeltaGenerator) -> None:
    bar = st.columns([5, 4], gap="medium", vertical_alignment="bottom")
    with bar[0]:
        chosen, pairs = choose_corpus(name, model, view)
    with bar[1]:
        kind = st.container()
    if chosen.spec is None:
        st.info("Choose a corpus to measure the heads over.", icon=":material/dataset:")
        return
    request = MeasurementRequest(name, version(name), chosen, pairs)
    job = JOBS.get("heads", request, partial(measure, request), partial(find, request), chosen.is_private)
    if chosen.is_private:
        mark_in_use(requests_by_kind(request))
    measured: MeasuredAtlas | None = result_of(job, "heads", request)
    if measured is None:
        return
    past = None
    if history_files(name):
        find_past = partial(find_history, request)
        past = JOBS.get("history", request, partial(measure_history, request), find_past, chosen.is_private)
        wait(past)
    with kind:
        choose(view, "kind", "Attention", KINDS)
    _draw_results(measured, past, request)
    sets(name, model, request)
    slices(name, model, request)
    with actions:
        st.download_button(
            "JSON",
            partial(_json, measured, past, request),
            f"{name.replace('/', '-')}-heads.json",
            "application/json",
            icon=":material/download:",
            help=f"Every number with its spread, as `{COMMAND} heads --json` writes it.",
        )


def requests_by_kind(request: MeasurementRequest) -> dict[str, MeasurementRequest]:
    """Return the request of each kind of measurement on the page: heads, snapshots, and heads in sets."""
    return {"heads": request, "history": request, "sets": of_sets(request)}


def _json(measured: MeasuredAtlas, past: Job[Any] | None, request: MeasurementRequest) -> str:
    """Return the measurements as the command line writes them; made when the button is pressed."""
    corpus_key = request.chosen.spec, None, request.pairs
    provenance = facts(request.name, digest_of(request.name), corpus_key, measured.when, measured.by)
    return json.dumps(provenance | numbers(measured.atlas, _history(past)), ensure_ascii=False) + "\n"


def _history(past: Job[Any] | None) -> History:
    return past.result if past is not None and past.done and past.result else []


@st.fragment
def _draw_results(measured: MeasuredAtlas, past: Job[Any] | None, request: MeasurementRequest) -> None:
    """Draw the picture with the chosen head, and the table. A fragment, so that choosing a head draws nothing else."""
    view: HeadsView = st.session_state["view"]
    atlas, history = measured.atlas, _history(past)
    index = chosen_head(atlas, view)
    name = chosen_measure(atlas, view.kind, index, view)
    left, right = st.columns([62, 38], gap="medium")
    with left:
        if past is not None and not past.done:
            at_work(past, "history", request)
        payload = header(atlas, history, view.kind, index, measure=name, step=view.step)
        atlas_picture(payload, key="heads-atlas", on_pick=_take_pick)
        _about(measured, history, request)
        if past is not None and past.error is not None:
            st.caption(f":material/info: The snapshots could not be measured: {explanation(past.error)}")
    with right:
        head(atlas, history, view, index, name)
    table(atlas, history, view, index)
    write_address()


def _take_pick(pick: Mapping[str, Any]) -> None:
    if "head" in pick:
        layer, head = pick["head"]
        update(layer=layer + 1, head=head + 1, measure=pick["measure"])
    else:
        update(step=pick["step"])


def _about(measured: MeasuredAtlas, history: History, request: MeasurementRequest) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(_summary(measured, history, request.chosen), width="stretch")
        help = "Results are cached until the model or the measures change."
        if st.button("Measure again", icon=":material/refresh:", key="heads-anew", type="tertiary", help=help):
            JOBS.drop("heads", request)
            # Without `find`, it is measured even if the cache on disk has it.
            JOBS.get("heads", request, partial(measure, request), is_private=request.chosen.is_private)
            st.rerun()


def _summary(measured: MeasuredAtlas, history: History, chosen: ChosenCorpus) -> str:
    """Say what was measured, on which data and when; and what is missing, and why."""
    atlas = measured.atlas
    day = date.fromisoformat(measured.when)
    loss = atlas.loss.mean[0, 0]
    sentences = [f"Measured on {atlas.pairs:,} sentences on {day.day} {day:%B %Y}; loss {loss:.3f} nats per token."]
    if chosen.spec == EXAMPLES:
        sentences.append("The translations are the model's own.")
    if measured.by == "gold":
        if atlas.left.unmatched:
            sentences.append(
                f"In {atlas.left.unmatched:,} sentences the tokenisation does not match the aligned words."
            )
    elif measured.by:
        sentences.append(f"This corpus has no gold alignment: errors are disagreements with {measured.by}.")
    else:
        sentences.append("This corpus has no gold alignment, so alignments and antecedents are not measured.")
    if atlas.left.long:
        sentences.append(f"{atlas.left.long:,} sentences are longer than the model reads.")
    if atlas.sampled:
        shuffled = "positional" in atlas.heads["encoder"]
        names = "Importance, agreement and shuffling" if shuffled else "Importance and agreement"
        sentences.append(f"{names} are measured on the first {atlas.sampled} sentences.")
        mean, spread = float(atlas.agreement.mean[0, 0]), float(atlas.agreement.deviation[0, 0])
        if atlas.agreement.sentences[0, 0]:
            sentences.append(
                "Rank correlation of attention (mean of all cross-attention heads) with the effect of removing a word: "
                f"{signed(mean)} ± {spread:.2f}."
            )
    if history and history[0][1].pairs < atlas.pairs:
        sentences.append(f"Snapshots are measured on the first {history[0][1].pairs} sentences.")
    return " ".join(sentences)


def atlas_picture(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """Draw the picture; `on_pick` gets {"head": [layer, head], "measure": name} or {"step": step or None}."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"head": [int(), int()], "measure": str()} | {"step": int() | None} as pick:
                on_pick(pick)

    _ATLAS(data=pack(header, {}), key=key, on_pick_change=picked)
