"""Relatives of softmax attention: a table, sparse and linear attention in the chosen head, and an RNN's gradient."""

from __future__ import annotations

import numpy as np
import streamlit as st

from headlight.analysis.recurrence import DRAWS
from headlight.analysis.relatives import linear_weights, masked_softmax, sparse_visible, stride
from headlight.charts.colours import theme_named
from headlight.charts.lines import Curve, lines
from headlight.formatting import brief, percent, plural
from transformer.t5 import T5Config
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.cost import cost_table
from ui.anatomy.matrix_table import MAX_CELLS, MatrixAxes, matrix_html, side_by_side, window
from ui.anatomy.passes import GAINS, STEPS, gradients_by_distance, whole_head
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open

# What is looked at, what changes in softmax(q kᵀ / √d) v, what it costs for n tokens, and whose it is.
RELATIVES = (
    ("Additive attention", "score = vᵀ tanh(W q + U k)", "n² · d, and no matrix product", "Bahdanau et al. 2015"),
    ("Encoder only", "no decoder and no look-ahead mask: every token sees all", "n² · d", "BERT, Devlin et al. 2019"),
    (
        "Decoder only",
        "no encoder: prompt and answer in one causal self-attention",
        "n² · d; a written token n · d, from a cache",
        "GPT-2, Radford et al. 2019",
    ),
    (
        "Sparse attention",
        "the mask leaves each query some keys: near ones, strided ones",
        "n · √n · d, or n · r · d for r keys",
        "Child et al. 2019; Longformer, Beltagy et al. 2020",
    ),
    (
        "Linear attention",
        "φ(q) (φ(k)ᵀ v) in the place of the softmax: the sum over keys is made once",
        "n · d²",
        "Katharopoulos et al. 2020",
    ),
    (
        "Fused kernels",
        "nothing: the same numbers, block by block, without storing the n × n weights",
        "n² · d, memory n · d",
        "FlashAttention, Dao et al. 2022",
    ),
)


def offer(chosen: ChosenPart) -> None:
    """Draw an expander, closed at first."""
    draw_when_open("Relatives of this attention", "relatives", _draw, chosen)


def _draw(chosen: ChosenPart) -> None:
    st.caption("What changes in softmax(q kᵀ / √d_head) v, and what a layer costs for n tokens of width d.")
    cost_table(("Attention", "What changes", "Cost", "From"), RELATIVES)
    if chosen.attention.remaining:
        _sparse_and_linear(chosen)
    _gradient_by_distance()


def _sparse_and_linear(chosen: ChosenPart) -> None:
    (matrices,) = whole_head(chosen.name, (chosen.trace,), chosen.site, chosen.head, None)
    st.markdown(f"**Sparse and linear attention in head {chosen.head + 1}**")
    exact = masked_softmax(matrices.scores, matrices.visible)
    queries, keys = exact.shape
    step = stride(keys)
    seen_keys = matrices.visible & sparse_visible(queries, keys, step)
    sparse = masked_softmax(matrices.scores, seen_keys)
    linear = linear_weights(matrices.queries, matrices.keys, matrices.visible)
    down = window(queries, chosen.query)
    across = down if queries == keys else window(keys, None)
    rows, columns = chosen.tokens.labels[down], chosen.trace.columns(chosen.part.kind)[across]
    theme = theme_named(st.context.theme.type or "light")
    pictures = (
        ("Softmax, exact", exact, matrices.visible),
        ("Sparse", sparse, seen_keys),
        ("Linear", linear, matrices.visible),
    )
    tables = []
    for title, weights, visible in pictures:
        hidden = ~visible[down, across]
        axes = MatrixAxes(rows, columns, hidden, chosen.query - down.start)
        tables.append(matrix_html(title, weights[down, across], axes, theme, (0.0, 1.0), hidden="0"))
    st.html(side_by_side(tables))
    notes = f" At most {MAX_CELLS} rows and columns are drawn." if max(queries, keys) > MAX_CELLS else ""
    if isinstance(chosen.config, T5Config):
        notes = " T5's position bias is part of the scores, and linear attention leaves it out." + notes
    pairs, share = plural(int(matrices.visible.sum()), "pair"), (exact * seen_keys).sum() / exact.sum()
    st.caption(
        f"Sparse (strided, Child et al. 2019): the same scores, but a query keeps only keys at most {step} away and at "
        f"multiples of {step}, which is about √{keys}: {seen_keys.sum():,} of {pairs}, which have {percent(share)} of "
        "the softmax's weight. Linear (Katharopoulos et al. 2020): φ(q)ᵀ φ(k) in the place of exp(score), with "
        "φ(x) = elu(x) + 1, from the same queries and keys. Compared with the softmax, sparse attention moves "
        f"{percent(moved(exact, sparse))} of an average row's weight to other keys, linear attention "
        f"{percent(moved(exact, linear))}; the mean of a row's largest weight is {linear.max(-1).mean():.2f} there "
        f"instead of {exact.max(-1).mean():.2f}, as nothing is exponentiated. This model was trained with the softmax; "
        f"one trained with another attention learns to use that.{notes}"
    )


def moved(a: np.ndarray, b: np.ndarray) -> float:
    """Return how much weight two patterns [Q, K] place differently: the mean total variation distance of their rows."""
    return float(np.abs(a - b).sum(-1).mean() / 2)


def _gradient_by_distance() -> None:
    st.markdown("**The gradient by distance: a recurrent network and attention**")
    recurrent, attention = gradients_by_distance()
    distances = list(range(1, STEPS))
    curves = [Curve(f"RNN, W = {gain:g} · Q", distances, recurrent[gain]) for gain in GAINS]
    theme = st.context.theme.type or "light"
    plot(
        lines(
            [*curves, Curve("attention", distances, attention)],
            "Size of the gradient",
            "tokens back, k",
            logarithmic="y",
            theme=theme,
        ),
        key="gradient-by-distance",
    )
    shrinking, growing = recurrent[GAINS[0]], recurrent[GAINS[-1]]
    st.caption(
        f"Computed from random weights and {STEPS} random inputs, the mean of {DRAWS} draws. RNN: "
        r"$h_t = \tanh(W h_{t-1} + x_t)$, W a gain times a random orthogonal matrix Q. The gradient "
        r"$\partial h_T / \partial h_{T-k}$ is a product of k matrices: from 1 to "
        f"{STEPS - 1} tokens back it goes from {brief(shrinking[0])} to {brief(shrinking[-1])} with a gain of "
        f"{GAINS[0]:g}, and from {brief(growing[0])} to {brief(growing[-1])} with {GAINS[-1]:g}: it vanishes or "
        r"explodes. Attention, $\partial y_T / \partial x_{T-k}$, reaches every token in one step: "
        f"{brief(attention[0])} at 1 token back, {brief(attention[-1])} at {STEPS - 1}. Size is the root mean square "
        "of the singular values: 1 passes a gradient on unchanged."
    )
