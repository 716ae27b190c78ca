"""A run's note and its tags: read by everybody, written where runs may be changed."""

from __future__ import annotations

import streamlit as st

from headlight.runs import RunFolder, Status, notes, save_notes
from headlight.runs.notes import MAX_NOTE_CHARACTERS, MAX_TAGS, Notes
from ui.state.public import public
from ui.training.keeping import attempt
from ui.widgets.text import literal


def noting(run: Status, other_runs: list[Status]) -> None:
    """Draw a run's note and tags; the tags of all runs are offered."""
    own_notes = notes(RunFolder(run.folder))
    if public():
        if own_notes != Notes():
            st.caption(literal(" ".join([own_notes.note, *(f"#{tag}" for tag in own_notes.tags)]).strip()))
        return
    tags = {tag for other in other_runs for tag in notes(RunFolder(other.folder)).tags}
    note_key, tags_key = f"note-{run.name}", f"tags-{run.name}"

    def keep() -> None:
        attempt(save_notes, RunFolder(run.folder), st.session_state[note_key] or "", st.session_state[tags_key])

    left, right = st.columns([3, 2], gap="small")
    left.text_input(
        "Note",
        own_notes.note,
        max_chars=MAX_NOTE_CHARACTERS,
        key=note_key,
        on_change=keep,
        placeholder="Note: what this run tries",
        icon=":material/edit_note:",
        label_visibility="collapsed",
    )
    right.multiselect(
        "Tags",
        sorted({*tags, *own_notes.tags}),
        default=own_notes.tags,
        max_selections=MAX_TAGS,
        accept_new_options=True,
        key=tags_key,
        on_change=keep,
        placeholder="Tags",
        label_visibility="collapsed",
    )
