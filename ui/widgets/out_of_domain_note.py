"""A note on a sentence that is unlike the training data of the model, or has words that the model never read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from headlight.analysis.typical import (
    guessed_words,
    has_unread,
    threshold_of,
    unlike,
    unlike_note,
    unread_note,
    unread_words,
)
from headlight.checkpoints import read_words
from headlight.language import gettext
from transformer import Translator
from ui.state import models
from ui.state.public import without_places
from ui.widgets.text import literal

MAX_DATA_CHARACTERS = 300  # of what a card says of its data


def out_of_domain_note(
    name: str,
    model: Translator,
    text: str,
    log_prob_per_token: float | None = None,
    who: str = "",
) -> None:
    """Draw the note, or nothing, also where the model's card has no threshold.

    It is about the source alone: neither a translation that somebody typed nor heads that are off change it.
    `log_prob_per_token` is of the model's own translation; without it, that of the trace that pages share is taken.
    `who` is the model's name as Markdown, where the page has several. Raises ValueError where the model cannot read the
    text.
    """
    if threshold_of(model.card) is None or model.card.get("broken"):  # then that is why
        return
    words: list[str] = []
    if (read := read_words(models.model_folder(name))) and has_unread(text, read):
        words = unread_words(text, models.trace(name, text, None).translation, read)
    if log_prob_per_token is None:
        log_prob_per_token = float(models.trace(name, text, None).log_probs.mean())
    if words := guessed_words(model.card, words, text, log_prob_per_token):
        note = unread_note(words, who, "*", literal)
    elif unlike(model.card, log_prob_per_token):
        note = unlike_note(who)
    else:
        return
    st.caption(f":material/info: {note}", help=trained_on(model.card))


def trained_on(card: Mapping[str, Any]) -> str | None:
    """Return what a model was trained on as Markdown, or None where its card does not say so."""
    data = card.get("data")
    if not isinstance(data, str) or not data.strip():
        return None
    data = " ".join(without_places(data).split()).rstrip(".")
    if len(data) > MAX_DATA_CHARACTERS:
        data = f"{data[:MAX_DATA_CHARACTERS].rstrip()} …"
    return gettext("It was trained on: {data}.", data=literal(data))
