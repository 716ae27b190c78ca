"""What the decoder writes when it reads only the first encoder layers."""

from __future__ import annotations

import streamlit as st

from transformer import Trace, Translator
from ui.why.passes import lens_of
from ui.why.tables import Row, table
from ui.widgets.sentence import difference
from ui.widgets.text import literal


def section(name: str, model: Translator, trace: Trace) -> None:
    """A row for each number of layers; what differs from the whole encoder is struck through and underlined."""
    st.subheader("If the decoder read an earlier layer", anchor="earlier-layers")
    st.caption(
        "The encoder stops early, and the decoder writes from what is there. Underlined: words that the full model "
        "does not write; struck through: words of the full model that are missing."
    )
    lens, decode = lens_of(name, trace), model.checkpoint.target_tokenizer.decode
    written = [decode(list(ids)) for ids in lens.written]
    rows: list[Row] = []
    for count, text in enumerate(written):
        reads = "embeddings only" if count == 0 else f"{count} of {len(written) - 1} layers"
        st.markdown(f"**{literal(reads)}**")
        difference(written[-1], text)
        total = float(lens.log_probs[count].sum())
        rows.append({"Reads": reads, "Writes": text, "Log-probability of the translation above, nats": total})
    table(rows, "why-layers")
    with st.expander("How it is measured"):
        st.markdown(
            "DecoderLens (Langedijk et al. 2024, *DecoderLens: Layerwise Interpretation of Encoder-Decoder "
            "Transformers*), written greedily. An early layer was trained to be read by the next one."
        )
