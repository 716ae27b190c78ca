"""A query token through one head of an attention in nine stages, or another view of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.anatomy import Variant, Walk, agreement, walk
from headlight.glossary import explained
from transformer.tokenizers import number_duplicates
from ui.anatomy import all_heads, components, plane, scaling, whole_head
from ui.anatomy.chosen import ChosenPart
from ui.anatomy.others import vectors_table
from ui.anatomy.passes import stream_of
from ui.anatomy.payloads import walk_payload
from ui.anatomy.view import STAGES, AnatomyView
from ui.state.view import update, widget_key
from ui.widgets.controls import choose
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import number_table
from ui.widgets.why_there import why_there

_LOOKS = {
    "word": "One word",
    "matrices": "Whole head",
    "heads": "All heads",
    "scaling": "Why divide",
    "plane": "Words in a plane",
}


def draw(chosen: ChosenPart) -> None:
    """Draw the chosen head: one word in it, all of it, all heads, why scores are divided, or words in a plane."""
    view: AnatomyView = st.session_state["view"]
    if not chosen.attention.remaining:
        st.info(
            "All heads of this attention were pruned: what is left of it is the bias of its output projection, the "
            "same vector for every token. Choose another on the map.",
            icon=":material/info:",
        )
        return
    choose(view, "look", "What to look at", _LOOKS, hide_label=True)
    match view.look:
        case "matrices":
            whole_head.draw(chosen)
        case "heads":
            all_heads.draw(chosen)
        case "scaling":
            scaling.draw(chosen)
        case "plane":
            plane.draw(chosen)
        case _:
            _one_word(chosen, view)


def _one_word(chosen: ChosenPart, view: AnatomyView) -> None:
    """Draw the chosen token through the head, with a check against the model's own numbers, and the same as tables."""
    trace, config, passed = chosen.trace, chosen.config, stream_of(chosen.name, chosen.trace)
    steps = walk(passed, chosen.site, chosen.head, chosen.query)
    row = trace.pattern(chosen.part.kind)[chosen.site.layer, chosen.head, chosen.query]
    st.caption(
        explained(
            "Rows are keys, the tokens attended to. Follow one row from left to right: from vector to score, to "
            "attention weight, to weighted value.",
            "key",
            "score",
            "attention weight",
            "value",
        )
    )
    key = widget_key("walk")
    components.walk(
        walk_payload(steps, trace, config, agreement(steps, passed, row), _start(key, view)),
        key=key,
        on_pick=lambda **picked: update(**{field: number + 1 for field, number in picked.items()}),
        on_shown=_take_shown,
    )
    key_chosen = None if view.key is None or view.key > row.size else view.key - 1
    head = chosen.site.layer, chosen.head
    why_there(chosen.name, trace, chosen.part.kind, head, (chosen.query, key_chosen), across=640)
    draw_when_open("This head as a table", "walk-as-table", _tables, steps, chosen, view)


def _start(key: str, view: AnatomyView) -> dict[str, Any]:
    """Return what the stages open with.

    This is the view's state until they are on the page, which from then on keeps its own.
    """
    state_key = f"{key}-start"
    if key not in st.session_state or state_key not in st.session_state:
        st.session_state[state_key] = {
            "stage": view.stage,
            "key": None if view.key is None else view.key - 1,
            "unscaled": view.unscaled,
            "unmasked": view.unmasked,
        }
    start: dict[str, Any] = st.session_state[state_key]
    return start


def _take_shown(stage: int, key: int, unscaled: bool, unmasked: bool) -> None:
    if 1 <= stage <= STAGES and key >= 0:
        update(stage=stage, key=key + 1, unscaled=unscaled, unmasked=unmasked)


def _tables(steps: Walk, chosen: ChosenPart, view: AnatomyView) -> None:
    """Draw one table by key, and one with the vectors of the query."""
    variant = steps.variants[not view.unscaled, not view.unmasked]
    hidden = ~steps.visible & (not view.unmasked)
    by_key: dict[str, list[float | None] | list[str]] = {
        "Key": number_duplicates(chosen.trace.columns(chosen.part.kind)),
        "Length of k": np.linalg.norm(steps.k, axis=-1).tolist(),
        "Length of v": np.linalg.norm(steps.v, axis=-1).tolist(),
        "q · k": steps.scores.tolist(),
        **_adjusted(steps, variant),
        "Masked": [None if off else score for off, score in zip(hidden, variant.adjusted.tolist(), strict=True)],
        "Weight": [None if off else weight for off, weight in zip(hidden, variant.weights.tolist(), strict=True)],
    }
    number_table(by_key, 4, "walk-keys")
    st.caption("A key without a weight is masked.")
    vectors = {"x": steps.x, "layer norm of x": steps.x_normed, "q": steps.q, "z": variant.heads[steps.head]}
    vectors |= {"o": variant.added, "x + o": variant.total, "output": variant.after}
    vectors_table({name: values for name, values in vectors.items() if values is not None}, "walk-vectors")


def _adjusted(steps: Walk, variant: Variant) -> dict[str, list[float | None] | list[str]]:
    """Return the column of stage 4, which some models lack, and in T5 that of the bias before it."""
    if steps.position_bias is not None:
        return {"Bias": steps.position_bias.tolist(), "Score + bias": variant.adjusted.tolist()}
    return {"Scaled": variant.adjusted.tolist()} if steps.divisor != 1 else {}
