"""What float16 makes of the gradients of a step, with and without a scaled loss."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

import numpy as np
import streamlit as st
import torch

from headlight import checkpoints
from headlight.analysis.precision import LOSS_SCALE, Rounding, gradients, rounding, spread
from headlight.charts.precision import TYPES, Limits, magnitudes
from headlight.corpora.encoded import Encoded
from headlight.corpora.generated import Generated
from headlight.formatting import percent_of, scientific
from transformer.batches import collate
from ui.state import models
from ui.state.cache import cached
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open

MODEL, BATCH_PAIRS = "reverse", 256  # a model that ships, whose corpus is generated; and the pairs of the batch


class Underflow(NamedTuple):
    """The gradients of a step: how many, their spread, and what float16 and bfloat16 make of them."""

    total: int
    spread: tuple[np.ndarray, np.ndarray]
    float16: Rounding
    scaled: Rounding  # float16, of the gradients of the scaled loss
    bfloat16: Rounding


def precision_picture() -> None:
    """Draw the expander, where the model that it measures is there; it computes when it is opened."""
    if MODEL in models.model_names():
        draw_when_open("What float16 rounds to 0, and why the loss is scaled", "underflow", _draw)


def _draw() -> None:
    step = underflow()
    exponents, shares = step.spread

    def share(value: float) -> str:
        return percent_of(round(value * step.total), step.total) if value else "none"

    scaled = f"loss times {LOSS_SCALE:,.0f}"
    spreads = {"as they are": step.spread, scaled: (exponents + int(np.log2(LOSS_SCALE)), shares)}
    st.caption(
        f"The {step.total:,} gradients of one batch of {BATCH_PAIRS} pairs, by the weights of **{MODEL}**, computed in "
        "float32 and then rounded. The bars above the curves are the ranges of the types, with their subnormal "
        "numbers, which have fewer digits the smaller they are, in a paler colour. "
        + "; ".join(f"{name}: {_smallest(limits)}" for name, limits in TYPES.items())
        + "."
    )
    plot(magnitudes(spreads, st.context.theme.type or "light"), key="underflow-picture")
    st.markdown(
        f"In float16 **{share(step.float16.zero)}** of them become 0 and "
        f"{share(step.float16.subnormal)} lose digits. With the {scaled}, "
        f"**{share(step.scaled.zero)}** become 0 and {share(step.scaled.subnormal)} lose digits; "
        f"{share(step.scaled.infinite)} are too large. In bfloat16, without a scale, "
        f"{share(step.bfloat16.zero)} become 0: it has the exponents of float32, and fewer digits of each "
        "number."
    )
    st.caption(
        "The step divides the gradients by the scale again, in float32. If one of them is infinite, the step is "
        "skipped and the scale halved. A trained model is shown, since gradients shrink as the loss falls."
    )


def _smallest(limits: Limits) -> str:
    return f"smallest normal number {scientific(limits.normal)}, smallest subnormal {scientific(limits.subnormal)}"


@cached(1, "Computing the gradients of a step")
def underflow() -> Underflow:
    """Return the gradients of a step of the model over its own corpus; the same on every page."""
    checkpoint = checkpoints.load(models.CHECKPOINTS / MODEL)
    config = checkpoint.model.config

    examples = Encoded(
        Generated(MODEL), checkpoint.source_tokenizer, checkpoint.target_tokenizer, config.max_length, config
    )
    values = gradients(checkpoint.model, collate(list(islice(examples, BATCH_PAIRS)), config.pad_id))
    half, brain = torch.float16, torch.bfloat16
    return Underflow(
        len(values),
        spread(values),
        rounding(values, half),
        rounding(values * LOSS_SCALE, half),
        rounding(values, brain),
    )
