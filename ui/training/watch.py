"""A run, or the snapshots of a model: its curves, one head during training, and its translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from headlight.runs import RunFolder, Status
from headlight.runs.preparing import count_duplicates, is_scored_on_training
from headlight.viewer.packing import pack
from ui.state import models
from ui.state.public import public, without_places
from ui.state.view import update, write_address
from ui.training import curves, shelf
from ui.training.compare import side_by_side
from ui.training.curves import RUNS, Watched
from ui.training.failure import failure
from ui.training.forming import forming
from ui.training.keeping import saved_note
from ui.training.noting import noting
from ui.training.series import Columns, series
from ui.training.shelf import Shipped
from ui.training.start import form
from ui.training.steering import header
from ui.training.view import TrainingView
from ui.widgets.bleu import how_bleu_counts
from ui.widgets.errors import plain_errors
from ui.widgets.fragments import own_fragment
from ui.widgets.pages import open_in
from ui.widgets.text import literal

UPDATE_SECONDS = 2.0  # between two updates of a running run


@dataclass(frozen=True)
class Shelf:
    """The runs and models with snapshots, and the one that is open."""

    runs: list[Status]
    shipped: list[Shipped]
    chosen: Status | Shipped | None

    def compared(self, view: TrainingView) -> list[Status]:
        """Return the runs that the view compares the chosen one with."""
        return [run for name in view.compare for run in self.runs if run.name == name and run is not self.chosen]

    @property
    def signature(self) -> list[tuple[str, str, str]]:
        """Return what the buttons depend on: when it changes, the whole page is redrawn."""
        return [(run.name, run.state, run.doing if run.doing in ("pausing", "stopping") else "") for run in self.runs]


def open_shelf(view: TrainingView) -> Shelf:
    """Return the run of the view, else the latest, else a shipped model."""
    runs, shipped = shelf.runs(), shelf.shipped()
    by_name: dict[str, Status | Shipped] = {run.name: run for run in runs}
    by_name |= {model.id: model for model in shipped}
    first = next(iter(by_name.values()), None)
    if not runs:  # the smallest is the one whose heads are easiest to read
        first = next((model for model in shipped if model.name == "reverse"), first)
    return Shelf(runs, shipped, by_name.get(view.run or "", first))


def watch(view: TrainingView) -> None:
    """Draw the page's body where runs are looked at."""
    trainings = open_shelf(view)
    saved_note()
    if not trainings.runs:
        _empty(trainings, view)
        return
    left, right = st.container(key="runs-and-run").columns([23, 77], gap="medium")
    with right:
        if isinstance(trainings.chosen, Status):
            header(trainings.chosen, [run.name for run in trainings.runs if run.name != trainings.chosen.name], view)
            noting(trainings.chosen, trainings.runs)
            failure(trainings.chosen)
        body = st.container()
    containers = left, body, st.container()
    seconds = UPDATE_SECONDS if any(run.alive for run in trainings.runs) else None
    own_fragment(_draw_changes, trainings.signature, view.run, view.compare, *containers, run_every=seconds)


def _empty(trainings: Shelf, view: TrainingView) -> None:
    """Draw an example of a training and the form that starts one, before there is a first run."""
    if isinstance(trainings.chosen, Shipped):
        name = literal(trainings.chosen.name)
        below = "" if public() else " Below you can train one yourself; with these settings it takes minutes."
        st.markdown(
            f"There is no run yet. This is the model **{name}** as it learned: one head at snapshots of its "
            f"training.{below}"
        )
        forming(trainings.chosen, None, view)
    elif public():
        st.info("There is no run to look at yet.", icon=":material/info:")
    if not public():
        st.space("medium")
        form(view)


def _draw_changes(
    signature: list[tuple[str, str, str]],
    chosen: str | None,
    compared: tuple[str, ...],
    left: DeltaGenerator,
    body: DeltaGenerator,
    below: DeltaGenerator,
) -> None:
    """Draw what changes while a run trains. When anything else changes, the whole page is redrawn."""
    view: TrainingView = st.session_state["view"]
    with plain_errors():
        trainings = open_shelf(view)
        if trainings.signature != signature or (view.run, view.compare) != (chosen, compared):
            st.rerun()
        write_address()
        with left:
            _list(trainings)
        with body:
            columns = _numbers(trainings, view)
        with below:
            with plain_errors():
                forming(trainings.chosen, columns, view)
            if isinstance(trainings.chosen, Status):
                _compared(trainings, view)
                _log(trainings.chosen)


# ---- the list ------------------------------------------------------------------------------------------------------


def _list(trainings: Shelf) -> None:
    groups = [
        ("Runs", [shelf.run_item(run) for run in trainings.runs]),
        ("Models with snapshots", [shelf.shipped_item(model) for model in trainings.shipped]),
    ]
    listed: list[dict[str, Any]] = [
        {"title": title, "items": [vars(item) for item in items]} for title, items in groups
    ]
    chosen = trainings.chosen
    selected = chosen.id if isinstance(chosen, Shipped) else chosen and chosen.name
    ids = {item.id for _, items in groups for item in items}
    RUNS(data=pack({"groups": listed, "selected": selected}, {}), key="runs", on_pick_change=lambda: _take_run(ids))


def _take_run(ids: set[str]) -> None:
    picked = st.session_state["runs"].get("pick")
    if picked in ids:
        update(run=picked, step=None, sentence=1, compare=(), layer=None, head=None)


# ---- curves --------------------------------------------------------------------------------------------------------


def _numbers(trainings: Shelf, view: TrainingView) -> Columns | None:
    """Draw the curves of the chosen run, and of those that it is compared with."""
    if isinstance(trainings.chosen, Shipped):
        _about(trainings.chosen)
        return None
    assert trainings.chosen is not None
    watched = [_watched(run) for run in (trainings.chosen, *trainings.compared(view))]
    curves.draw(watched, view.step, view.smooth)
    if parts := curves.parts(watched[0].columns):
        st.caption("The last evaluation, by corpus: " + "; ".join(map(literal, parts)) + ".")
    if any(evaluation.get("bleu") for evaluation in watched[0].columns.evaluations):
        how_bleu_counts()
    folder = RunFolder(trainings.chosen.folder)
    for caution in curves.cautions(watched[0].columns, count_duplicates(folder), is_scored_on_training(folder)):
        st.caption(f":material/info: {caution}")
    if trainings.chosen.state in ("finished", "stopped") and f"runs/{trainings.chosen.name}" in models.model_names():
        open_in(f"runs/{trainings.chosen.name}")
    return watched[0].columns


def _watched(run: Status) -> Watched:
    return Watched(run, RunFolder(run.folder).recipe().training, series(str(run.folder)).read())


def _about(model: Shipped) -> None:
    """Describe a model that was saved without its metrics."""
    card = models.model_card(model.folder)
    st.subheader(literal(model.name), anchor=False)
    title = literal(str(card.get("title", "A model without a card")))
    st.markdown(f"{title}. Its snapshots are kept with it, its metrics are not.")
    if card.get("command"):
        st.caption("Trained with")
        st.code(str(card["command"]), language="bash", wrap_lines=True)
    open_in(model.name)


# ---- below ---------------------------------------------------------------------------------------------------------


def _compared(trainings: Shelf, view: TrainingView) -> None:
    """Draw the settings of the runs that are compared."""
    assert isinstance(trainings.chosen, Status)
    if compared := trainings.compared(view):
        runs = [trainings.chosen, *compared]
        st.space("small")
        side_by_side([run.name for run in runs], [RunFolder(run.folder).recipe() for run in runs])


def _log(run: Status) -> None:
    log = st.expander("Log", icon=":material/notes:", key="log", on_change="rerun")
    if log.open:
        log.code(without_places("\n".join(run.log)) or "Nothing yet.", language=None, wrap_lines=True)
