"""T5's positions: a bias on the scores of self-attention."""

from __future__ import annotations

import numpy as np
import streamlit as st
import torch

from headlight.analysis import attention_at
from headlight.charts.relative import biases
from headlight.formatting import two_digits
from transformer import Transformer
from transformer.t5 import T5, RelativeBias, T5Config
from transformer.taps import Site
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import number_table

_STACKS = ("encoder", "decoder")
_EXPLANATIONS = {
    "encoder": "**Encoder** :gray[attends to both sides; keys before the query are on the left]",
    "decoder": "**Decoder** :gray[attends to earlier tokens only]",
}


def draw_relative(model: Transformer) -> None:
    """Draw the bias of each head against the distance, for both stacks."""
    assert isinstance(model, T5)
    st.subheader("Every distance has its own bias", anchor=False)
    st.caption(
        "This model adds nothing to its embeddings. Each head of its self-attention has learned a bias for each "
        "distance and adds it to the score before the softmax: a head may prefer neighbours, or distant tokens. "
        f"{_layers(model)} {_buckets(model)}"
    )
    for column, stack in zip(st.columns(2, gap="large"), _STACKS, strict=True):
        with column:
            st.markdown(_EXPLANATIONS[stack])
            distances, values = curves(model, stack)
            plot(biases(distances, values, theme=st.context.theme.type or "light"), key=f"bias-{stack}")
    draw_when_open("The biases as a table", "bias-as-table", _tables, model)


def _layers(model: T5) -> str:
    assert isinstance(model.config, T5Config)
    if model.config.shared_bias:
        return "All layers of a stack share the biases."
    return "Each layer has biases of its own; these are of the first."


def _buckets(model: T5) -> str:
    bias = table_of(model, "encoder")
    distances, _ = curves(model, "encoder")
    buckets = bias.bucket(torch.from_numpy(distances))
    alone = int((buckets[distances < 0].bincount() == 1).sum())
    return (
        f"Up to {alone} tokens away, each encoder distance has its own bias; farther ones share, and from "
        f"{bias.max_distance:,} on all share one."
    )


def table_of(model: T5, stack: str) -> RelativeBias:
    """Return the bias of the first layer of a stack, which all its layers may share."""
    bias = attention_at(model, Site(stack, 0, "self")).position_bias
    assert isinstance(bias, RelativeBias)
    return bias


@torch.no_grad()
def curves(model: T5, stack: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances that occur, [N], and the bias of each head there, [H, N]."""
    bias = table_of(model, stack)
    furthest = min(bias.max_distance, model.config.max_length - 1)
    distances = np.arange(-furthest, (furthest if stack == "encoder" else 0) + 1)
    values: np.ndarray = bias.along(torch.from_numpy(distances).to(bias.table.weight.device)).cpu().numpy()
    return distances, values


def _tables(model: T5) -> None:
    for stack in _STACKS:
        distances, values = curves(model, stack)
        heads = {f"head {head + 1}": curve for head, curve in enumerate(values)}
        st.markdown(f"**{stack.capitalize()}**")
        number_table({"distance": distances, **heads}, 4, f"bias-table-{stack}")
        st.caption(f"From {two_digits(float(values.min()))} to {two_digits(float(values.max()))}.")
