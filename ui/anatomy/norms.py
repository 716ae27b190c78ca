"""Two views of a norm: batch norm on the same numbers, and pre-norm against post-norm in a deep network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.norms import BothNorms, both_norms
from headlight.analysis.stream import CROSS, FEED_FORWARD, SELF
from headlight.charts.diagrams import norm_cubes, norm_places
from headlight.charts.document import Drawing, image
from headlight.charts.lines import Curve, lines
from headlight.glossary import explained
from headlight.importers.examples import examples
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.passes import stream_of
from ui.state import models
from ui.state.cache import cached
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.table import number_table
from ui.widgets.text import literal

GRADIENT_NORMS_FILE = Path(__file__).with_name("gradient_norms.json")
MAX_NUMBERS = 8  # numbers of a vector
SMOOTHED_STEPS = 10  # steps whose losses are drawn as their mean


def offer(chosen: ChosenPart) -> None:
    """Draw two expanders, closed at first: each computes when it is opened."""
    draw_when_open("Why not batch norm?", "batch-norm", _batch_norm, chosen)
    draw_when_open("Before the block or after it?", "pre-or-post", _before_or_after, chosen.config)


@plain_errors()
def _batch_norm(chosen: ChosenPart) -> None:
    """Draw the chosen token under layer norm and batch norm, in batches with two other sentences."""
    model = chosen.model
    sentences = [example.text for example in examples(model.card) if example.text != chosen.trace.text][:2]
    st.caption(
        explained(
            "Layer norm looks along one token's numbers, batch norm at one number of all tokens in the batch. So what "
            "batch norm makes of a token depends on the sentences beside it, and a sentence alone would get other "
            "numbers than in training; layer norm does not depend on the batch.",
            "layer norm",
        )
    )
    _draw(*norm_cubes(st.context.theme.type or "light"))
    if len(sentences) < 2:
        st.caption("To compare, this model needs two examples in its card, and it has fewer.")
        return
    batches = [compute_norms(chosen, other) for other in sentences]
    first, second = batches
    moved = [np.abs(a - b).max() for a, b in ((first.layer, second.layer), (first.batch, second.batch))]
    rows = {"Before": first.read}
    for kind, field in (("Layer norm", "layer"), ("Batch norm", "batch")):
        rows |= {f"{kind}, beside sentence {i}": getattr(batch, field) for i, batch in enumerate(batches, 1)}
    table = {"": list(rows)} | {
        f"number {i + 1}": [float(row[i]) for row in rows.values()] for i in range(min(MAX_NUMBERS, len(first.read)))
    }
    number_table(table, 2, "both-norms")
    rms_note = " This model's own norm subtracts no mean." if isinstance(model.model.config, T5Config) else ""
    st.caption(
        f"Sentence 1: {literal(sentences[0])} Sentence 2: {literal(sentences[1])} With the other sentence beside it, "
        f"layer norm's numbers change by at most {moved[0]:.2g}, batch norm's by {moved[1]:.2g}. Both before gain and "
        f"bias; batch norm as in training.{rms_note}"
    )


def compute_norms(chosen: ChosenPart, other: str) -> BothNorms:
    """Return the chosen token under both norms, with another sentence in its batch."""
    traces = chosen.trace, models.trace(chosen.name, other, None)
    batch = [stream_of(chosen.name, trace) for trace in traces]
    block = {"ff-norm": FEED_FORWARD, "attention-norm": CROSS if chosen.part.kind == "cross" else SELF}
    layer = None if chosen.part.name == "norm" else chosen.part.layer
    return both_norms(batch, chosen.stack, layer, block.get(chosen.part.name, ""), chosen.query)


@cached(1, seconds=3600, turn=False)
def measured() -> dict[str, Any]:
    """Return the results of `python -m tools.gradient_norms`."""
    runs: dict[str, Any] = json.loads(GRADIENT_NORMS_FILE.read_text("utf-8"))
    return runs


def _before_or_after(config: ModelConfig) -> None:
    runs, theme = measured()["runs"], st.context.theme.type or "light"
    depth = len(runs[0]["gradients"]) // 2
    layers = [f"{stack[:3]} {i + 1}" for stack in ("encoder", "decoder") for i in range(depth)]
    st.caption(
        explained(
            "Before the block (pre-norm), the residual stream runs through the whole network untouched, and the "
            "gradient with it. After it (post-norm, as in the paper), every norm on the way scales the gradient again, "
            "so that at the start layers get very different gradients, and training needs a warm-up (Xiong et al. "
            "2020).",
            "pre-norm",
            "residual stream",
            "post-norm",
            "warm-up",
        )
        + f" This model has its norms {'before' if config.norm == 'pre' else 'after'} the blocks."
    )
    _draw(*norm_places(theme))
    left, right = st.columns(2, gap="large")
    with left:
        curves = [Curve(f"{run['norm']}-norm", layers, np.array(run["gradients"])) for run in runs if not run["warmup"]]
        plot(
            lines(curves, "Norm of the gradient at the first step", "layer", theme=theme),
            key="gradients",
        )
    with right:
        curves = [
            Curve(
                f"{run['norm']}-norm, {'with' if run['warmup'] else 'no'} warm-up",
                range(SMOOTHED_STEPS, len(run["losses"]) + 1, SMOOTHED_STEPS),
                np.array(run["losses"]).reshape(-1, SMOOTHED_STEPS).mean(1),
            )
            for run in runs
        ]
        plot(lines(curves, f"Loss, nats per token, means of {SMOOTHED_STEPS} steps", "step", theme=theme), key="losses")
    last = {(run["norm"], bool(run["warmup"])): run["losses"][-1] for run in runs}
    st.caption(
        f"Measured once: {measured()['setup']}. `{measured()['command']}` measures again. After the last step the loss "
        f"is {last['pre', False]:.2f} without and {last['pre', True]:.2f} with warm-up for pre-norm, "
        f"{last['post', False]:.2f} and {last['post', True]:.2f} for post-norm."
    )
    table = {"layer": layers} | {
        f"{run['norm']}-norm": run["gradients"] for run in runs if not run["warmup"]
    }  # the first gradient is the same with and without warm-up
    st.dataframe(table, hide_index=True, key="gradients-table")


def _draw(*drawings: Drawing) -> None:
    """Draw pictures side by side, or below each other where there is no room; each has a text alternative."""
    st.html(f'<div class="drawings">{"".join(map(image, drawings))}</div>')
