"""The cost of a layer of this model by the length of the sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from headlight.analysis.network import crossing, layer_cost, table_1
from headlight.analysis.sites import attention_at
from headlight.charts.lines import Curve, lines
from headlight.formatting import percent
from transformer import Transformer
from transformer.layers import EncoderLayer
from transformer.t5 import T5Config
from transformer.taps import Site
from ui.anatomy.chosen import ChosenPart
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import table_html

LENGTHS = [int(n) for n in np.unique(np.geomspace(4, 16_384, 49).round())]


def offer(chosen: ChosenPart) -> None:
    """Draw an expander, closed at first."""
    draw_when_open("What it costs", "cost", _costs, chosen.model.model, len(chosen.trace.source))


def _costs(model: Transformer, tokens: int) -> None:
    config, attention = model.config, attention_at(model, Site("encoder", 0, "self"))
    first = model.encoder.layers[0]
    assert isinstance(first, EncoderLayer)
    gated = first.feed_forward.gate is not None
    # Pruned heads count too: a layer that lost all of its heads would compare nothing.
    sizes = config.d_model, attention.n_heads * attention.d_head, config.encoder.d_ff, gated
    before = ", before heads were pruned" if config.pruned_heads else ""
    costs = [layer_cost(n, *sizes) for n in LENGTHS]
    half_at, cost = crossing(*sizes), layer_cost(tokens, *sizes)
    st.caption(
        f"One encoder layer of this model{before}, in multiply-adds. Comparing every token with every other grows with "
        f"n² · d, the maps that each token goes through with n · d². Here, with {tokens:,} tokens, attention's "
        f"products are {percent(cost.attention / sum(cost), 1)} of {sum(cost):,}; from {half_at:,} tokens on they are "
        "more than half."
    )
    curves = [
        Curve("q kᵀ and weights times v", LENGTHS, np.array([layer.attention for layer in costs])),
        Curve(
            "projections and feed-forward",
            LENGTHS,
            np.array([layer.projections + layer.feed_forward for layer in costs]),
        ),
    ]
    mark = half_at, f"n = {half_at:,}"
    theme = st.context.theme.type or "light"
    plot(lines(curves, "Multiply-adds of a layer", "tokens n", logarithmic="xy", at=mark, theme=theme), key="costs")
    st.caption(
        f"Table 1 of the paper at n = {tokens:,} and d = {config.d_model:,}. A recurrent network reads one token after "
        "the other, and what two tokens have to do with each other passes through every one between them; in "
        "self-attention all tokens are read at once, and any two are one step apart."
    )
    rows = table_1(tokens, config.d_model)
    columns = ("Layer", "Cost", "here", "Steps one after the other", "Longest path")
    cost_table(columns, [(r.name, r.complexity, f"{r.products:,.0f}", f"{r.steps:,}", f"{r.path:,}") for r in rows])
    if isinstance(config, T5Config):
        st.caption("T5's heads together may be wider than d_model; the curve has their own width.")


def cost_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table that scrolls sideways where it has no room."""
    st.html(table_html("costs", rows, columns, scrolls="Table, scrolls sideways"))
