"""Exports of a model as one file, written when its button is pressed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from headlight.importers.bundle import safetensors_bundle, zip_folder
from headlight.importers.marian_export import export_marian, marian_notes, reason_against_marian
from transformer.checkpoint import Checkpoint
from ui.checkpoints.listing import ListedModel, open_listed
from ui.state import models
from ui.state.queue import in_turn
from ui.widgets.errors import plain_errors
from ui.widgets.text import literal


def export(entry: ListedModel) -> None:
    """Draw the menu with every format in which the model can be downloaded."""
    menu = st.popover("Export", icon=":material/download:", key="export-model", on_change="rerun")
    if not menu.open:
        return
    stem = entry.name.removeprefix(models.RUN_PREFIX).removeprefix(models.IMPORTED_PREFIX)
    with menu, plain_errors():
        _button(
            "Headlight folder, as a zip",
            partial(zip_folder, entry.folder),
            f"{stem}.zip",
            "Weights, configuration, tokenizer and card.",
        )
        _button(
            "One safetensors file",
            partial(safetensors_bundle, entry.folder),
            f"{stem}.safetensors",
            "The same, with all but the weights in the file's header. Any program that reads safetensors opens it.",
        )
        checkpoint = open_listed(entry.name).checkpoint
        reason = reason_against_marian(checkpoint.model.config, checkpoint.model)
        _button(
            "Hugging Face Marian, as a zip",
            partial(marian_zip, checkpoint),
            f"{stem}-marian.zip",
            "A folder that Hugging Face transformers opens with MarianMTModel and AutoTokenizer.",
            disabled=reason is not None,
        )
        notes = " ".join(marian_notes(checkpoint))
        caption = f"No Marian export: {reason}." if reason else f"The Marian folder: {notes}"
        st.caption(literal(caption))


def _button(label: str, make: Callable[[Path], object], name: str, help_text: str, disabled: bool = False) -> None:
    st.download_button(
        label,
        in_turn(partial(file_bytes, make, name), label),
        name,
        "application/octet-stream",
        on_click="ignore",
        width="stretch",
        key=f"export-{name}",
        help=help_text,
        disabled=disabled,
    )


def file_bytes(make: Callable[[Path], object], name: str) -> bytes:
    """Return the bytes that `make` writes to a file of that name."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / name
        make(out)
        return out.read_bytes()


def marian_zip(checkpoint: Checkpoint, out: Path) -> None:
    """Write a checkpoint's Marian folder to `out`, as a zip. Raises Refused for a model of another architecture."""
    folder = out.with_suffix("")
    export_marian(checkpoint, folder)
    shutil.make_archive(str(folder), "zip", folder.parent, folder.name)
