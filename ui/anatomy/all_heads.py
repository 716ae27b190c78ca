"""All heads of an attention: how d_model is split into them and joined again, and the effect of keeping only one."""

from __future__ import annotations

import html

import streamlit as st

from headlight.analysis.several_heads import SeveralHeads
from headlight.charts.colours import LESS_COLOUR, MORE_COLOUR, Theme, theme_named
from headlight.formatting import signed
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.passes import heads_alone
from ui.widgets.table import Cell, bar, table_html

LITTLE_LOST = " Little is lost in this attention: the others make up for it. Open another on the map to compare."
MAX_DRAWN_HEADS = 16  # heads that the picture tells apart


def draw(chosen: ChosenPart) -> None:
    attention, trace = chosen.attention, chosen.trace
    heads, width = len(attention.remaining), attention.query.out_features
    keys = trace.pattern(chosen.part.kind).shape[-1]
    theme = theme_named(st.context.theme.type or "light")
    st.markdown("**How the vector is cut into heads**")
    of_one = "The heads" if heads > 1 else "The one head"
    st.caption(
        f"{of_one} share three maps, W_Q, W_K and W_V; each reads {width // heads} of the {width} numbers that a map "
        "gives. Splitting and joining only reshape: no number changes. Shapes are [sentences, tokens, "
        "numbers], with an axis for the heads in between."
    )
    st.html(steps_html(chosen.config.d_model, heads, width, len(chosen.tokens), keys, theme))
    st.markdown("**Why several?**")
    if heads == 1:
        st.caption("This attention has one head: there is nothing to compare.")
        return
    measured = heads_alone(chosen.name, tuple(trace.source.ids), tuple(trace.target.ids), chosen.site)
    st.caption(_caption(measured, chosen.head))
    st.html(alone_html(measured, chosen.head))


def steps_html(d_model: int, heads: int, width: int, queries: int, keys: int, theme: Theme) -> str:
    """Return the shapes that a query takes on its way, each with a small picture; the colours are the heads'."""
    d_head = width // heads
    hatch = theme.hatch
    head_colours = [theme.heads[head % len(theme.heads)] for head in range(min(heads, MAX_DRAWN_HEADS))]
    steps = [
        ("The layer reads", (1, queries, d_model), "a vector a token", [hatch], False),
        ("times W_Q", (1, queries, width), "q of all heads in one vector", [hatch], False),
        ("view", (1, queries, heads, d_head), f"cut into {heads} pieces of {d_head}", head_colours, False),
        ("transpose", (1, heads, queries, d_head), "a matrix for each head", head_colours, True),
        ("softmax(q kᵀ)", (1, heads, queries, keys), "each head's own weights; k likewise", head_colours, True),
        ("times v", (1, heads, queries, d_head), "each head's weighted values", head_colours, True),
        ("transpose, join", (1, queries, width), "the pieces in one vector again", head_colours, False),
        ("times W_O", (1, queries, d_model), "mixes what the heads found", [hatch], False),
    ]
    boxes = "".join(_step(*step) for step in steps)
    return f'<ol class="head-shapes">{boxes}</ol>'


def _step(name: str, sizes: tuple[int, ...], note: str, colours: list[str], stacked: bool) -> str:
    bars = "".join(f'<span style="background:{colour}"></span>' for colour in colours)
    return (
        f'<li><div class="muted">{html.escape(name)}</div><div class="sizes">{list(sizes)}</div>'
        f'<div class="cuts"><div class="{"stacked" * stacked}" aria-hidden="true">{bars}</div></div>'
        f'<div class="muted">{html.escape(note)}</div></li>'
    )


def _caption(measured: SeveralHeads, head: int) -> str:
    losses = {i: alone - measured.whole for i, alone in measured.alone.items()}
    best = max(losses, key=losses.__getitem__)
    return (
        f"The log-probability of this translation is {signed(measured.whole)} nats. It is measured again with only one "
        "head of this attention left (the others add nothing), and with one pattern for all heads, the mean of theirs; "
        f"every other attention stays as it is. Head {head + 1} alone changes it by "
        f"{signed(losses[head], plus=True)} nats; the best alone, head {best + 1}, by "
        f"{signed(losses[best], plus=True)}; one pattern for all by "
        f"{signed(measured.mean - measured.whole, plus=True)}." + (LITTLE_LOST if min(losses.values()) > -0.5 else "")
    )


def alone_html(measured: SeveralHeads, head: int) -> str:
    """Return how the log-probability changes, as a table with bars; a full bar is the largest change."""
    rows = [(f"Only head {i + 1}", alone - measured.whole, i == head) for i, alone in measured.alone.items()]
    rows.append(("One pattern for all", measured.mean - measured.whole, False))
    largest = max(max(abs(change) for _, change, _ in rows), 1e-9)
    cells = [
        (
            Cell(name, "chosen" * is_chosen),
            Cell(bar(abs(change) / largest, MORE_COLOUR if change < 0 else LESS_COLOUR), "wide"),
            f"{signed(change, plus=True)} nats",
        )
        for name, change, is_chosen in rows
    ]
    return table_html("bars", cells, numbers=(2,))
