"""Renaming and deleting of imported models."""

from __future__ import annotations

import os
import re
import shutil
from functools import partial
from pathlib import Path

import streamlit as st

from ui.checkpoints.listing import ListedModel
from ui.state import models
from ui.state.public import private_only, public
from ui.state.view import update
from ui.widgets.controls import confirm_deletion
from ui.widgets.errors import cannot
from ui.widgets.text import literal


def free_path(name: str) -> Path:
    """Return the folder of a new model. Raises ValueError where the name is invalid or taken."""
    path = models.own_folder(name)
    if path.exists():
        raise ValueError(f"A model named {name} already exists; choose another name, or delete that one first.")
    return path


def suggested_name(text: str) -> str:
    """Return a free name for a model that is like the name of its file or of its repository on the Hub."""
    stem = re.sub(r"\.(pt|pth|ckpt|bin|safetensors|zip)$", "", text.rstrip("/").rpartition("/")[2], flags=re.I)
    name = re.sub(r"[^\w.-]+", "-", stem).strip("-._")[:50] or "model"
    candidates = [name, *(f"{name}-{number}" for number in range(2, 1000))]
    return next(free for free in candidates if not (models.MODELS / free).exists())


def menu(entry: ListedModel) -> None:
    """Draw the menu to rename and delete, for imported models only."""
    if public() or not entry.imported:
        return
    with st.popover("More", icon=":material/more_horiz:", key="model-more", on_change="rerun") as more:
        if more.open:
            for action, icon in (("rename", "edit"), ("delete", "delete")):
                st.button(
                    action.capitalize(),
                    icon=f":material/{icon}:",
                    key=action,
                    on_click=_open_dialog,
                    args=(action,),
                    width="stretch",
                )
    dialog = st.session_state.pop("model-dialog", None)
    if dialog == "delete":
        confirm_deletion(
            "Delete this model?",
            f"**{literal(entry.name)}** will be removed from this machine. The file that it was imported from is not "
            "touched.",
            partial(delete, entry.folder), model=None, text=None, target=None, ticked=(),
        )  # fmt: skip
    elif dialog == "rename":
        _rename(entry)


def _open_dialog(action: str) -> None:
    """Close the menu and open a dialog."""
    st.session_state["model-more"] = False
    st.session_state["model-dialog"] = action


@st.dialog("Rename this model", icon=":material/edit:")
def _rename(entry: ListedModel) -> None:
    before = entry.folder.name
    name = (st.text_input("Name", before, key=f"new-name-{before}", max_chars=64) or "").strip()
    if st.button("Rename", key="rename-it", type="primary", icon=":material/check:", disabled=name == before):
        try:
            private_only()
            os.rename(entry.folder, free_path(name))
        except (ValueError, OSError) as error:
            cannot(error)
            return
        update(model=f"{models.IMPORTED_PREFIX}{name}", ticked=())
        st.rerun()


def delete(folder: Path) -> None:
    """Remove the folder of an imported model. Raises ValueError for any other folder."""
    private_only()
    if folder.parent != models.MODELS or folder.is_symlink():
        raise ValueError(f"{folder.name} was not imported in this app, so it cannot be deleted here.")
    deleted = folder.with_name(f".{folder.name}.deleted")
    os.rename(folder, deleted)  # atomic, so that a list of the models never shows half of a folder
    shutil.rmtree(deleted)
