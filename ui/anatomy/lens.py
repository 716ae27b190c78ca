"""The logit lens: what the decoder would predict after each layer."""

from __future__ import annotations

import streamlit as st

from headlight.analysis.stream import Lens
from headlight.formatting import probability_text
from headlight.glossary import explained
from transformer import Trace, Translator
from transformer.config import ModelConfig
from transformer.tokenizers import number_duplicates
from ui.anatomy import components
from ui.anatomy.passes import lens_of
from ui.anatomy.payloads import lens_payload, lens_rows, lens_words
from ui.anatomy.view import AnatomyView
from ui.state import models
from ui.state.models import translator
from ui.state.view import update, widget_key, write_address
from ui.widgets.disclosure import draw_when_open


@st.fragment
def draw_lens(name: str, text: str, target: str | None) -> None:
    """Draw what the model would predict if it stopped after each layer, as a table of tokens over layers."""
    view: AnatomyView = st.session_state["view"]
    trace = models.trace(name, text, target)
    model, predictions = translator(name), lens_of(name, trace)
    st.subheader("What would it predict if it stopped here?", anchor="lens")
    st.caption(explained(_caption(predictions, trace, model.model.config), "residual stream", "final layer norm"))
    components.lens(
        lens_payload(predictions, trace, model, view.lens),
        key=widget_key("lens"),
        on_pin=lambda cell: update(lens=cell),
    )
    draw_when_open("The most probable tokens as a table", "lens-as-table", _table, predictions, trace, model)
    write_address()


def _caption(predictions: Lens, trace: Trace, config: ModelConfig) -> str:
    norm = "the final layer norm and the output projection" if config.final_norm else "the output projection"
    norm = "the layers before the output projection and that projection" if config.output_transform else norm
    count = len(trace.reads)
    repeats = sum(first == read for first, read in zip(predictions.ids[0, :, 0].tolist(), trace.reads.ids, strict=True))
    if config.tied == "none":
        bottom = (
            "Embedding and output projection are separate matrices in this model, so the bottom row need not make "
            f"sense; it repeats the token that is read at {repeats} of {count} positions."
        )
    else:
        bottom = (
            "Embedding and output projection share one matrix in this model, so the bottom row finds the vector that "
            f"it began with: it repeats the token that is read at {repeats} of {count} positions."
        )
    return (
        f"The decoder's residual stream after each layer, decoded with {norm}. Colour is the probability of "
        f"the token shown. {bottom}"
    )


def _table(predictions: Lens, trace: Trace, model: Translator) -> None:
    words = lens_words(predictions, model)
    rows = range(len(words) - 1, -1, -1)  # the whole model on top, as in the picture
    table = {"After": [lens_rows(len(words))[row] for row in rows]}
    for token, label in enumerate(number_duplicates(trace.reads.labels)):
        probabilities = predictions.probabilities[:, token, 0].tolist()
        table[label] = [f"{words[row][token][0]} {probability_text(probabilities[row])}" for row in rows]
    st.dataframe(table, hide_index=True, key="lens-table")
