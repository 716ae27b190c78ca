"""Which heads the chosen token needs: its log-probability when the output of one head is replaced."""

from __future__ import annotations

from functools import partial
from typing import cast

import numpy as np
import streamlit as st

from headlight.analysis.sites import by_kind
from headlight.analysis.why import Ablation
from headlight.charts.document import Drawing
from headlight.charts.why import MapScale, maps
from headlight.formatting import signed
from headlight.glossary import term
from transformer.trace import Kind
from ui.why.components import KIND_NAMES, draw_picture, head_grid, head_rows
from ui.why.downloads import COLUMN_PIXELS, Picture
from ui.why.passes import MAX_REFERENCES, WrittenToken, ablated
from ui.why.view import ABLATIONS
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.errors import plain_errors
from ui.widgets.text import literal

MIN_CHANGE_NATS = 0.1  # 10 % of a probability: a smaller change is hardly visible, and no head counts as needed for it
REPLACEMENTS = {
    "mean": "the mean of its outputs for the model's example sentences",
    "resample": "its output for another example sentence, at the same token; the average of ten draws",
    "zero": "zeros",
}
METHODS = (
    "**Without one head**: how the log-probability of the token changes. **Zeros** also take away what the head adds "
    "to every sentence alike, and give the later layers inputs that they never see (Michel et al. 2019, *Are Sixteen "
    "Heads Really Better than One?*). **Its mean** leaves what the head adds to every sentence, so that only what it "
    "says about this one is lost (Wang et al. 2023, *Interpretability in the Wild*). **Another sentence** gives a "
    f"vector that does occur (Chan et al. 2022, *Causal Scrubbing*). The other sentences are up to {MAX_REFERENCES} of "
    "the model's examples, each with its translation. What was written so far stays. Where heads can stand in for "
    "each other, each of them looks as if it were not needed."
)


def draw_ablation(token: WrittenToken) -> list[Picture]:
    """Draw the choice of what replaces a head, and the change for every head; computed on request."""
    return draw_when_open("Without one head", "why-ablation-opened", _draw, token) or []


def _draw(token: WrittenToken) -> list[Picture]:
    with plain_errors():
        choose(token.view, "ablation", "What replaces the head's output", ABLATIONS)
        by = cast(Ablation, token.view.ablation)
        changes = {kind: values[..., token.step] for kind, values in by_kind(ablated(*token.forced, by)).items()}
        picture = Picture("Without one head", partial(_maps, changes), head_rows(changes, "Nats"))
        draw_picture(picture.draw, COLUMN_PIXELS, key="why-ablation")
        kind, layer, head, change = _most_needed(changes)
        st.caption(
            f"Change of the {term('log-probability')} of “{literal(token.label)}”, in nats, when one head gives "
            f"{REPLACEMENTS[by]}. "
            + (
                f"Needed most: {KIND_NAMES[kind]} {layer + 1}, head {head + 1}, {signed(change, plus=True)}."
                if change <= -MIN_CHANGE_NATS
                else f"No head alone is needed: none takes more than {signed(max(0.0, -change))} from it."
            )
        )
        return [picture]
    return []


def _most_needed(changes: dict[Kind, np.ndarray]) -> tuple[Kind, int, int, float]:
    kind = min(changes, key=lambda kind: float(np.nanmin(changes[kind], initial=np.inf)))
    layer, head = divmod(int(np.nanargmin(changes[kind])), changes[kind].shape[1])
    return kind, layer, head, float(changes[kind][layer, head])


def _maps(changes: dict[Kind, np.ndarray], theme: str, across: int) -> Drawing:
    limit = max(MIN_CHANGE_NATS, *(float(np.nanmax(np.abs(values), initial=0)) for values in changes.values()))
    grids = [head_grid(f"{KIND_NAMES[kind]}, head", values) for kind, values in changes.items()]
    ends = f"{signed(-limit)} less probable", f"more probable {signed(limit, plus=True)}"
    return maps(grids, theme, MapScale(limit, ends, diverging=True), across=across, cell=38.0)
