"""What a model gets wrong by its making: said once on each page about it."""

from __future__ import annotations

import streamlit as st

from transformer import Translator
from transformer.masks import never_hidden


def mistakes(model: Translator) -> None:
    """Draws the note, or nothing where the model hides from attention what the paper hides."""
    if note := told(model):
        st.caption(f":material/visibility: {note}")


def told(model: Translator) -> str:
    config = model.model.config
    note = never_hidden(config)
    if note is None:
        return ""
    if config.look_ahead_mask == "applied":
        return note
    return (
        f"{note} Attention is shown in one pass over the whole translation, as in training; to write, it reads what "
        "it has written so far, all of it again for each token, which Decoding shows."
    )
