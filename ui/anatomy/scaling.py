"""Why the scores are divided by √d_head: random vectors of many widths, and the chosen head among them."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from headlight.analysis.anatomy import WIDTHS, ScoreSpread, score_spread
from headlight.charts.lines import Curve, lines
from headlight.charts.scaling import against_width as chart
from headlight.formatting import brief
from headlight.glossary import explained
from transformer.t5 import T5Config
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.passes import additive_by_width, against_width, whole_head
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import number_table


def draw(chosen: ChosenPart) -> None:
    attention = chosen.attention
    d_head = attention.d_head
    scores = whole_head(chosen.name, (chosen.trace,), chosen.site, chosen.head, None)[0].scores
    root = math.sqrt(d_head)
    # T5 does not divide: its scores as they are take the place of the divided ones.
    plain, divided = (scores, scores / root) if attention.scale is not None else (scores * root, scores)
    spreads, random = (score_spread(plain), score_spread(divided)), against_width(scores.shape[1])
    st.caption(
        explained(
            "A dot product of two vectors sums d_head products. Where the numbers have mean 0 and variance 1, the sum "
            "has variance d_head: the wider the head, the further apart its scores, until the softmax gives nearly "
            "everything to one key and hardly any gradient to the others. Divided by √d_head the variance is 1 at "
            "every width.",
            "score",
            "key",
        )
    )
    st.caption(_caption(spreads, d_head, isinstance(chosen.config, T5Config)))
    theme = st.context.theme.type or "light"
    variances = np.array([[pair[i].variance for pair in random] for i in range(2)])
    largest = np.array([[pair[i].largest for pair in random] for i in range(2)])
    left, right = st.columns(2, gap="large")
    with left:
        marks = [spread.variance for spread in spreads]
        plot(
            chart(WIDTHS, variances, (d_head, marks), "Variance of the scores", logarithmic=True, theme=theme),
            key="scaling-variance",
        )
    with right:
        plot(
            chart(
                WIDTHS, largest, (d_head, [spread.largest for spread in spreads]), "Mean largest weight", theme=theme
            ),
            key="scaling-largest",
        )
    st.caption(
        f"Lines: random vectors, {scores.shape[1]} keys for each query, drawn and measured here. Diamonds: this head "
        "over this sentence, all keys visible. 1 on the right is one key that gets everything."
    )
    label = "Additive attention, and the softmax's gradient"
    draw_when_open(label, "additive", _additive_attention, scores.shape[1], theme)
    rows = [*zip(map(str, WIDTHS), random, strict=True), (f"this head, {d_head}", spreads)]
    draw_when_open("These numbers as a table", "scaling-as-table", _table, rows)


def _additive_attention(keys: int, theme: str) -> None:
    """Draw additive attention and the gradient that the softmax leaves, by width."""
    effects = additive_by_width(keys)
    st.markdown(
        r"Additive attention (Bahdanau et al. 2014) scores by $v^\top \tanh(W q + U k)$: each tanh is between −1 "
        "and 1, so its scores don't grow with the width. Dot products do, and the softmax saturates: one weight "
        "near 1, the others near 0, and when scores change, weights hardly follow. That, the paper suspects "
        "(section 3.2.1), is why additive attention is better at large d_k where nothing is divided; and dot "
        "products are faster, so it divides."
    )
    curves = [Curve(name, WIDTHS, np.array([effect.slope for effect in row])) for name, row in effects.items()]
    plot(
        lines(curves, "Gradient that the softmax leaves, Σ w (1 − w)", "d_k", logarithmic="x", theme=theme),
        key="softmax-slope",
    )
    narrow, wide = effects["dot product"][0], effects["dot product"][-1]
    st.caption(
        f"Random vectors, {keys} keys, W, U and v of variance 1/d_k. From d_k {WIDTHS[0]} to {WIDTHS[-1]} the "
        f"variance of dot products goes from {brief(narrow.variance)} to {brief(wide.variance)}, and what the "
        f"softmax leaves of the gradient from {narrow.slope:.2f} to {wide.slope:.2f}; at {WIDTHS[-1]} it is "
        f"{effects['divided by √d_k'][-1].slope:.2f} divided, and {effects['additive'][-1].slope:.2f} additive."
    )


def _caption(spreads: tuple[ScoreSpread, ScoreSpread], d_head: int, t5: bool) -> str:
    plain, divided = spreads
    return (
        f"This head: d_head is {d_head}, √d_head {math.sqrt(d_head):.3g}. Its scores have variance "
        f"{brief(plain.variance)} as they are and {brief(divided.variance)} divided; the largest weight of a row is "
        f"{plain.largest:.2f} on average without the division, and {divided.largest:.2f} with it."
        + (
            " T5 does not divide: it starts with smaller queries instead, and adds its bias to the scores."
            if t5
            else ""
        )
    )


def _table(rows: list[tuple[str, tuple[ScoreSpread, ScoreSpread]]]) -> None:
    table: dict[str, list[str] | list[float]] = {"Width": [width for width, _ in rows]}
    for i, name in enumerate(("as they are", "divided")):
        table[f"Variance, {name}"] = [pair[i].variance for _, pair in rows]
        table[f"Largest weight, {name}"] = [pair[i].largest for _, pair in rows]
        table[f"Entropy, {name}"] = [pair[i].entropy for _, pair in rows]
    number_table(table, 3, "scaling-table")
    st.caption(explained("Entropy as a share of that of looking at all keys alike.", "entropy"))
