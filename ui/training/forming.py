"""A head at the snapshots of a training, and the model's translation at each."""

from __future__ import annotations

from operator import itemgetter

import streamlit as st

from headlight.importers.examples import examples
from headlight.runs import RunFolder, Status
from ui.state import models
from ui.state.view import bound
from ui.training import film, writes
from ui.training.film import History
from ui.training.series import Columns
from ui.training.shelf import Shipped
from ui.training.view import TrainingView
from ui.widgets.controls import choose


def _history(chosen: Status | Shipped) -> tuple[History, list[str]]:
    """Return the snapshots, and the sentences that are watched."""
    if isinstance(chosen, Shipped):
        history = film.history(chosen.id, chosen.folder, chosen.folder / "history", chosen.folder / "config.json")
        return history, [example.text for example in examples(models.model_card(chosen.folder))]
    folder = RunFolder(chosen.folder)
    base, recipe = folder.best() or folder.checkpoints / "best", folder.recipe()
    sentences = recipe.watch or [example.text for example in examples(models.model_card(base))]
    # The vocabulary stays the same while the best checkpoint is replaced.
    return film.history(chosen.name, base, folder.history, folder.config), [str(text) for text in sentences]


def forming(chosen: Status | Shipped | None, columns: Columns | None, view: TrainingView) -> None:
    if chosen is None:
        return
    history, sentences = _history(chosen)
    if not sentences:
        st.caption("No sentences were chosen to watch.")
        return
    number = min(view.sentence, len(sentences))
    text = sentences[number - 1]
    has_film = bool(history.snapshots) and (history.base / "config.json").is_file()
    frames = history.frames(text) if has_film else []
    head = film.watched_head(history.of, frames[-1].trace, view) if frames else None
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("One head during training", anchor=False, width="content")
        with st.container(horizontal=True, width="content"):
            numbered = dict(enumerate(sentences, 1))
            choose(view, "sentence", "Sentence", numbered, number, menu=True, hide_label=True, width=280)
            if head is not None:
                heads = {each: film.head_name(each) for each in film.heads(frames[-1].trace)}
                binding = bound("kind", "head", convert=itemgetter(0), layer=itemgetter(1), head=itemgetter(2))
                choose(view, "head", "Watch", heads, head, menu=True, hide_label=True, width=230, **binding)
    if frames and head is not None:
        film.draw(history, frames, head, view.step)
        table = st.expander("As a table", key="film-table", on_change="rerun")
        if table.open:
            table.dataframe(film.table(frames, head), hide_index=True)
    else:
        st.caption(_why_no_film(chosen))
    evaluated = writes.of_evaluations(columns.evaluations, text) if columns else []
    lines = evaluated or writes.of_frames(frames)
    st.space("small")
    st.subheader("What it writes", anchor=False)
    if lines:
        st.caption("Changes from the line above are underlined.")
        writes.draw(history.of, lines, view.step)
    else:
        st.caption("The first translation comes with the first evaluation.")


def _why_no_film(chosen: Status | Shipped) -> str:
    if isinstance(chosen, Status) and RunFolder(chosen.folder).recipe().training.snapshots:
        return "The first snapshot comes once the corpus has been read."
    return "This run keeps no snapshots. Start a run with snapshots to watch attention form; ten are enough."
