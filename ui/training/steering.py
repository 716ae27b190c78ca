"""The controls of a run: the buttons next to its name, and the menu with the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import streamlit as st

from headlight.runs import RunFolder, Status, extend, kill, pause, resume, stop
from ui.state.public import public
from ui.state.view import bound, set_view
from ui.training.keeping import attempt, dialogs, metrics, refused, zipped
from ui.training.shelf import FAILED_STATES
from ui.training.view import MAX_COMPARED_RUNS, TrainingView
from ui.widgets.text import literal


class Act(NamedTuple):
    """A button: its label, and its action."""

    label: str
    icon: str
    do: Callable[[], object]
    help: str = ""


def toggle_form(view: TrainingView) -> None:
    """Draw the button that opens the form for a new run, or leads back from it."""
    label, icon, kind = ("Back to the runs", "arrow_back", "secondary") if view.new else ("New run", "add", "primary")
    form = {"new": not view.new, "start": None}
    st.button(label, icon=f":material/{icon}:", type=kind, key="new-run", on_click=set_view, kwargs=form)  # type: ignore[arg-type]


def header(run: Status, names: list[str], view: TrainingView) -> None:
    """Draw the run's name, what it is compared with, and its buttons."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(literal(run.name), anchor=False, width="stretch")
        st.multiselect(
            "Compare with",
            names,
            default=[name for name in view.compare if name in names],
            max_selections=MAX_COMPARED_RUNS,
            placeholder="Compare with",
            **bound("compare", convert=tuple),
            label_visibility="collapsed",
            width=190,
        )
        for act in acts(run) if run.state not in FAILED_STATES else []:  # a failed run has its button beside the cause
            st.button(
                act.label,
                icon=act.icon,
                key=f"act-{act.label}",
                help=act.help or None,
                on_click=attempt,
                args=(act.do,),
                disabled=run.doing in ("pausing", "stopping") and act.label == "Pause",
            )
        if not public():
            _more_menu(run)
    refused()
    dialogs(run)


def acts(run: Status) -> list[Act]:
    """Return the actions that suit the state, the likeliest first."""
    if public():
        return []
    path = run.folder
    match run.state:
        case "queued" | "running":
            help = "Saves a checkpoint and pauses; resume it later."
            return [Act("Pause", ":material/pause:", partial(pause, path), help)]
        case "stalled":
            return [Act("End the worker", ":material/dangerous:", partial(kill, path))]
        case "paused" | "stopped":
            return [Act("Resume", ":material/play_arrow:", partial(resume, path))]
        case "crashed" | "out of disk":
            label = "Resume" if run.saved_step is not None else "Try again"
            return [Act(label, ":material/play_arrow:", partial(resume, path))]
        case "finished" if run.damaged:
            return [Act("Resume", ":material/play_arrow:", partial(resume, path))]
        case "diverged":
            return [Act("Start again", ":material/restart_alt:", partial(start_again, run.name))]
        case _:
            return []


def start_again(name: str) -> None:
    """Open the form with the settings of a run."""
    set_view(new=True, start=name)


# ---- the menu ------------------------------------------------------------------------------------------------------


def _more_menu(run: Status) -> None:
    menu = st.popover("More", icon=":material/more_horiz:", key="more", on_change="rerun")
    if not menu.open:
        return
    with menu:
        if run.state in ("queued", "running"):
            # Not beside Pause, where a second click after Resume would meet it.
            st.button(
                "Stop",
                icon=":material/stop:",
                key="stop",
                on_click=attempt,
                args=(partial(stop, run.folder),),
                disabled=run.doing in ("pausing", "stopping"),
                help="Saves a checkpoint and stops; it can be resumed.",
                width="stretch",
            )
        if not run.alive and run.saved_step is not None:
            _longer(run)
        st.button(
            "Start again with other settings",
            icon=":material/restart_alt:",
            key="again",
            on_click=start_again,
            args=(run.name,),
            width="stretch",
            help="Opens the form with this run's settings, from its best checkpoint or with new weights.",
        )
        if not run.alive and RunFolder(run.folder).best() is not None:
            st.button(
                "Keep as a model",
                icon=":material/inventory_2:",
                key="keep",
                on_click=_ask,
                args=("keep",),
                width="stretch",
            )
            st.download_button(
                "Download as a checkpoint",
                partial(zipped, run),
                f"{run.name}.zip",
                "application/zip",
                icon=":material/download:",
                key="zip",
                on_click="ignore",
                width="stretch",
                help="The best checkpoint in the format of checkpoints/: 16-bit weights, configuration, tokenizer, "
                "card.",
            )
        st.download_button(
            "Download the metrics",
            partial(metrics, run),
            f"{run.name}.jsonl",
            "application/jsonl",
            icon=":material/query_stats:",
            key="metrics",
            on_click="ignore",
            width="stretch",
        )
        st.button(
            "Delete",
            icon=":material/delete:",
            key="delete",
            on_click=_ask,
            args=("delete",),
            disabled=run.alive,
            help="Stop it first." if run.alive else None,
            width="stretch",
        )


def _ask(question: str) -> None:
    """Close the menu and open a dialog."""
    st.session_state["more"] = False
    st.session_state["asking"] = question


def _longer(run: Status) -> None:
    """Draw the dialog for more steps of a run that has ended."""
    steps_done = run.saved_step or 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"longer-{run.name}-{steps_done}"
        st.number_input(
            "Continue up to step",
            min_value=steps_done + 1,
            value=max(run.steps, steps_done + 1) if steps_done < run.steps else steps_done + max(1, steps_done // 2),
            step=100,
            key=key,
            help=f"{steps_done:,} steps are done. The learning rate's schedule is stretched to the new end.",
        )
        st.button(
            "Continue",
            icon=":material/play_arrow:",
            key="continue",
            on_click=attempt,
            # Read at the click: what was typed last may have come with it.
            args=(lambda: extend(run.folder, int(st.session_state.get(key) or steps_done + 1)),),
        )
