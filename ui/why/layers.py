"""DecoderLens: what the decoder writes when it reads only the first encoder layers."""

from __future__ import annotations

import math
from functools import partial

import streamlit as st

from headlight.charts.document import Drawing
from headlight.charts.why import bars
from headlight.formatting import probability_text, signed
from headlight.glossary import explained, term
from transformer import Trace
from ui.why.components import TOLERANCE, Row, check, draw_picture, table
from ui.why.downloads import COLUMN_PIXELS, Picture
from ui.why.passes import lens_of
from ui.why.view import WhyView
from ui.widgets.frame import Opened
from ui.widgets.sentence import difference
from ui.widgets.text import literal


def draw_layers(opened: Opened[WhyView], trace: Trace, step: int, theme: str) -> list[Picture]:
    """Draw a row for each number of layers; differences from the whole encoder are struck through and underlined."""
    name, model, view = opened.name, opened.model, opened.view
    st.subheader("If the decoder read an earlier layer", anchor="earlier-layers")
    st.caption(
        explained(
            "The encoder stops early, and the decoder writes from what is there. Underlined: words that the full model "
            "does not write; struck through: words of the full model that are missing.",
            "encoder",
        )
    )
    lens, decode = lens_of(name, trace, view.taps), model.checkpoint.target_tokenizer.decode
    written = [decode(list(ids)) for ids in lens.written]
    token = trace.writes.labels[step]
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
        chance = math.exp(float(lens.log_probs[count][step]))
        rows.append(
            {
                "Reads": reads,
                "Writes": text,
                f"Probability of {token}": chance,
                "Log-probability of the translation above, nats": float(lens.log_probs[count].sum()),
            }
        )

    def draw(theme: str, across: int) -> Drawing:
        chances = [(str(row["Reads"]), float(row[f"Probability of {token}"] or 0)) for row in rows]
        return bars([(reads, chance, probability_text(chance)) for reads, chance in chances], theme, across=across)

    st.markdown(f"**Probability of “{literal(token)}”** after what was written above, per number of encoder layers")
    draw_picture(partial(draw, theme), COLUMN_PIXELS, key="why-lens")
    apart = float(abs(lens.log_probs[-1] - trace.log_probs).max())
    check(
        apart < TOLERANCE,
        f"With all layers it is the model itself: the largest difference of a log-probability is {signed(apart)}.",
    )
    st.markdown(
        f"Which word each layer of the decoder would write is the {term('logit lens')}: "
        f"[open it in Anatomy]({view.link('anatomy', 'model', 'text', 'target')})."
    )
    with st.expander("As a table"):
        table(rows, "why-layers")
    with st.expander("How it is measured"):
        st.markdown(
            "DecoderLens (Langedijk et al. 2024, *DecoderLens: Layerwise Interpretation of Encoder-Decoder "
            "Transformers*), written greedily. An early layer was trained to be read by the next one."
        )
    return [Picture(f"Probability of {token} by encoder layers", draw, rows)]
