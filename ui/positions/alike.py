"""The similarity of two positions against their distance, for the sinusoidal encoding and another one."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from headlight.analysis.positions import encoding, similarity, similarity_gap
from headlight.charts.positions import similarity as chart
from headlight.formatting import two_digits
from headlight.language import listed
from ui.positions.codes import Code
from ui.viewer.component import plot

_MAX_DISTANCE = 200  # words of distance that are drawn
_MIN_CURVE_DIFFERENCE = 0.01  # curves that differ by less get different widths, or only the last would be seen
_MAX_POSITIONS = 2_000  # positions among which the gap is looked for

_SCHEME_CAPTIONS = {
    "learned": (
        "Learned positions: what training found",
        "Here no formula makes the curves of different positions agree, and they end where the table ends.",
    ),
    "stored": (
        "Stored positions: what came with the model",
        "Where the curves coincide, the table is sinusoidal, with its dimensions in any order; otherwise it was "
        "learned.",
    ),
    "none": (
        "Without positions there is nothing to compare",
        "Every encoding is zero, and a zero vector has no direction.",
    ),
    "integer": (
        "Integers all point the same way",
        "One number has no direction but its sign, so any two positions look the same; 0 has no direction.",
    ),
    "normalised": (
        "Numbers from 0 to 1 all point the same way",
        "One number has no direction but its sign, so any two positions look the same; 0 has no direction.",
    ),
    "binary": (
        "Bits jump",
        "Where many bits flip at once, neighbours look unlike each other, and each position has its own curve.",
    ),
}


def draw_alike(code: Code, positions: int, width: int) -> None:
    """Draw the sinusoid on the left; on the right the scheme that is shown, or a learned table."""
    sinusoid = encoding("sinusoidal", min(positions, _MAX_POSITIONS), width, code.base)
    if code.of_table or code.scheme in ("sinusoidal", "relative"):
        scheme, table = "stored" if code.learned.stored else "learned", code.learned.table[:positions]
    else:
        scheme, table = code.scheme, code.table[:_MAX_POSITIONS]
    title, caption = _SCHEME_CAPTIONS[scheme]
    if scheme == "learned" and code.learned.model is None:
        title = "An untrained table has no pattern"
        caption = (
            "No model here has learned positional encodings: this is a random initialisation. What the sinusoidal "
            "encoding has by formula, training must find."
        )
    elif scheme == "learned":
        caption += f" This is the table of {code.learned.model}."
    left, right = st.columns(2, gap="large")
    with left:
        _draw_similarity("sinusoid", "Nearby positions are similar", None, sinusoid)
    with right:
        _draw_similarity("other", title, caption, table)


def _draw_similarity(key: str, title: str, caption: str | None, table: np.ndarray) -> None:
    n = len(table)
    positions = sorted({n // 5, n // 2, 4 * n // 5})
    names = listed([f"{p:,}" for p in positions])
    st.subheader(title, anchor=False)
    law = "The similarity of two positions depends only on their distance"
    st.caption(caption or (f"{law}: the curves for p = {names} coincide." if len(positions) > 1 else f"{law}."))
    curves = {p: similarity(table, p) for p in positions}
    gap = similarity_gap(table, positions) if len(positions) > 1 else math.nan
    if any(np.isfinite(values).any() for values in curves.values()):
        figure = chart(
            curves,
            min(max(n - 1, 1), _MAX_DISTANCE),
            nested=gap < _MIN_CURVE_DIFFERENCE,
            theme=st.context.theme.type or "light",
        )
        plot(figure, key=f"alike-{key}")
    if math.isnan(gap):
        st.markdown(":gray[There are too few positions to compare.]")
    else:
        st.markdown(f"**{two_digits(gap)}** :gray[is the largest difference between the curves at any distance]")
