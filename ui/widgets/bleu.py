"""Draw an explanation of BLEU, for every page that shows a BLEU score."""

from __future__ import annotations

import streamlit as st

from headlight.analysis.reference import bleu_parts
from headlight.formatting import translation_score
from headlight.language import gettext, localized
from ui.widgets.text import literal

EXAMPLE = ("the cat sat on the mat", "the cat is on the mat")


def how_bleu_counts(output: str | None = None, reference: str | None = None) -> None:
    """Draw the counts behind the score of an example and, where there is one, of an output against its reference.

    Without an output the scores on the page are those of a corpus, and the text says how these are counted.
    """
    with st.expander(gettext("How BLEU counts")):
        text = gettext(
            "Of the output's words (a full stop is one too), pairs, triples and fours in a row, BLEU counts those that "
            "the reference has too, multiplies the four shares, takes the fourth root, and lowers the score of an "
            "output that is shorter than its reference. Where nothing matches, sacreBLEU takes half a match for the "
            "first such length, a quarter for the next."
        )
        if output is None:
            text += " " + gettext("Over a corpus, the counts of all sentences are added up first.")
        st.caption(text)
        _counted(gettext("An example"), *EXAMPLE)
        if output is not None and reference is not None:
            _counted(gettext("This output"), output, reference)


def _counted(title: str, output: str, reference: str) -> None:
    parts = bleu_parts(output, reference)
    shares = ", ".join(f"{match}/{total}" for match, total in zip(parts.matches, parts.totals, strict=True))
    both = gettext("“{output}” against “{reference}”", output=literal(output), reference=literal(reference))
    st.markdown(f"**{title}**: {both}")
    st.caption(
        gettext(
            "1 to 4 in a row: {shares}; factor for length {factor}; BLEU {score}.",
            shares=shares,
            factor=localized(f"{parts.brevity:.2f}"),
            score=translation_score(parts.score),
        )
    )
