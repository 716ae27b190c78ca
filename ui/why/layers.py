"""DecoderLens: what the decoder writes when it reads only the first encoder layers."""

from __future__ import annotations

import math

import streamlit as st

from headlight.charts.document import Drawing
from headlight.charts.why import bars
from headlight.formatting import probability_text, signed
from headlight.glossary import explained, term
from ui.why.components import TOLERANCE, Row, check, draw_picture, table
from ui.why.downloads import COLUMN_PIXELS, Picture
from ui.why.passes import WrittenToken, decoder_lens
from ui.widgets.sentence import difference
from ui.widgets.text import literal


def draw_layers(token: WrittenToken) -> list[Picture]:
    """Draw a row for each number of layers; differences from the whole encoder are struck through and underlined."""
    st.subheader("If the decoder read an earlier layer", anchor="earlier-layers")
    st.caption(
        explained(
            "The encoder stops early, and the decoder writes from what is there. Underlined: words that the full model "
            "does not write; struck through: words of the full model that are missing.",
            "encoder",
        )
    )
    lens, decode = decoder_lens(*token.forced), token.model.checkpoint.target_tokenizer.decode
    written = [decode(list(ids)) for ids in lens.written]
    probability = f"Probability of {token.label}"
    rows: list[Row] = []
    for count, text in enumerate(written):
        reads = "embeddings only" if count == 0 else f"{count} of {len(written) - 1} layers"
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f":gray[{literal(reads)}]", width=130)
            with st.container(width="stretch"):
                if text:
                    difference(written[-1], text)
                else:
                    st.caption("It ends at once.")
        rows.append(
            {
                "Reads": reads,
                "Writes": text,
                probability: math.exp(float(lens.log_probs[count][token.step])),
                "Log-probability of the translation above, nats": float(lens.log_probs[count].sum()),
            }
        )

    def draw(theme: str, across: int) -> Drawing:
        chances = [(str(row["Reads"]), float(row[probability] or 0)) for row in rows]
        return bars([(reads, chance, probability_text(chance)) for reads, chance in chances], theme, across=across)

    label = literal(token.label)
    st.markdown(f"**Probability of “{label}”** after what was written above, per number of encoder layers")
    draw_picture(draw, COLUMN_PIXELS, key="why-lens")
    error = float(abs(lens.log_probs[-1] - token.trace.log_probs).max())
    check(
        error < TOLERANCE,
        f"With all layers it is the model itself: the largest difference of a log-probability is {signed(error)}.",
    )
    st.markdown(
        f"Which word each layer of the decoder would write is the {term('logit lens')}: "
        f"[open it in Anatomy]({token.view.link('anatomy', 'model', 'text', 'target')})."
    )
    with st.expander("As a table"):
        table(rows, "why-layers")
    with st.expander("How it is measured"):
        st.markdown(
            "DecoderLens (Langedijk et al. 2024, *DecoderLens: Layerwise Interpretation of Encoder-Decoder "
            "Transformers*), written greedily. An early layer was trained to be read by the next one."
        )
    return [Picture(f"{probability} by encoder layers", draw, rows)]
