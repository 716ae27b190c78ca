"""Saving or downloading a run's best checkpoint, and deleting a run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from headlight.formatting import error_message
from headlight.runs import RunFolder, Status, delete, export
from transformer.files import open_regular
from ui.state import models
from ui.state.public import private_only, public
from ui.widgets.controls import confirm_deletion
from ui.widgets.errors import cannot
from ui.widgets.text import literal


def zipped(run: Status) -> bytes:
    """Return a zip file with the best checkpoint in the format of checkpoints/."""
    with tempfile.TemporaryDirectory() as folder:
        export(run.folder, Path(folder) / run.name, score=False)
        packed = shutil.make_archive(str(Path(folder) / "packed"), "zip", folder, run.name)
        return Path(packed).read_bytes()


def metrics(run: Status) -> bytes:
    path = RunFolder(run.folder).metrics
    if not path.is_file():
        return b""
    with open_regular(path) as file:
        return file.read()


@st.dialog("Keep as a model", icon=":material/inventory_2:")
def keep_as_model(run: Status) -> None:
    """Copy the best checkpoint to where every page looks for models."""
    st.markdown("Its best checkpoint is copied into `models/`, with its snapshots, so that every page can open it.")
    name = (st.text_input("Name", run.name, key=f"model-name-{run.name}") or "").strip()
    scored = st.checkbox(
        "Score it on the test pairs first", help="Takes a while; the scores are written into its card."
    )
    if st.button("Keep", key="keep-model", type="primary", icon=":material/check:"):
        try:
            with st.spinner("Scoring it and copying" if scored else "Copying", show_time=True):
                export(run.folder, models.own_folder(name), score=scored)
        except (ValueError, OSError) as error:
            cannot(error)
            return
        st.session_state["training-kept"] = name
        st.rerun()


def saved_note() -> None:
    if name := st.session_state.pop("training-kept", None):
        st.toast(f"{name} was saved as a model.", icon=":material/check_circle:")


def dialogs(run: Status) -> None:
    """Open the dialog whose button was just pressed, if any."""
    question = None if public() else st.session_state.pop("asking", None)
    if question == "delete":
        confirm_deletion(
            "Delete this run?",
            f"**{literal(run.name)}** and everything in its folder will be removed: checkpoints, snapshots, metrics "
            "and log. This cannot be undone.",
            partial(delete, run.folder), run=None, compare=(), step=None,
        )  # fmt: skip
    elif question == "keep":
        keep_as_model(run)


def attempt(do: Callable[..., object], *args: Any) -> None:
    """Run a button's action; where that fails, the page says why."""
    try:
        private_only()
        do(*args)
    except (ValueError, OSError) as error:
        st.session_state["training-refused"] = error_message(error)


def refused() -> None:
    """Say why the last button's action failed."""
    if message := st.session_state.pop("training-refused", None):
        cannot(message)
