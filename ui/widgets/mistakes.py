"""What a model gets wrong by its making: said once on each page about it."""

from __future__ import annotations

import streamlit as st

from headlight.teaching.mistakes import MISTAKES
from transformer import Translator
from transformer.masks import never_hidden


def mistakes(model: Translator, broken_here: bool = False) -> None:
    """Draws the note, or nothing where nothing is known to be wrong.

    Of a model that is `broken_here` the page says already what is wrong with it.
    """
    if note := _one_pass(model) if broken_here else told(model):
        st.caption(f":material/visibility: {note}")


def told(model: Translator) -> str:
    """What attention sees that the paper hides from it, and which mistake the model was trained with on purpose."""
    config, broken = model.model.config, MISTAKES.get(str(model.card.get("broken")))
    notes = [] if broken is None else [f"This model is broken on purpose ({broken.name}): {_small(broken.title)}."]
    if (unmasked := never_hidden(config)) is not None:
        notes.append(unmasked)
    return " ".join(filter(None, [*notes, _one_pass(model)]))


def _one_pass(model: Translator) -> str:
    if model.model.config.look_ahead_mask != "never":
        return ""
    return (
        "Attention and probabilities are of one pass over the whole translation, as in training; to write, it "
        "reads what it has written so far, all of it again for each token, which Decoding shows."
    )


def _small(title: str) -> str:
    return title[0].lower() + title[1:]
