"""The choice of a strategy, and what it can be set to."""

from __future__ import annotations

import streamlit as st

from ui.decoding.view import (
    LARGEST_BEAM,
    LARGEST_PENALTY,
    LARGEST_SEED,
    LARGEST_TOP_K,
    LEAST_TOP_P,
    TEMPERATURES,
    DecodingView,
)
from ui.state.view import take, update, widget_key

NAMES = {"greedy": "Greedy", "beam": "Beam", "sampling": "Sampling"}
HELP = (
    "Greedy writes the likeliest token at each step. A beam keeps several sentences alive and ends with the best. "
    "Sampling draws each token at random, the likelier ones more often."
)
PENALTY_HELP = (
    "Each token makes a sentence less likely, so plain sums favour short ones. The score divides the sum by "
    "((5 + length) / 6) to this power: 0 compares plain sums, more favours longer sentences."
)
TEMPERATURE_HELP = (
    "Below 1 the likely tokens become likelier still, above 1 the others catch up. It re-reads what the model has "
    "said: nothing is computed anew while the same tokens are drawn."
)


def controls(view: DecodingView) -> None:
    """The strategy and its own settings, beside each other where there is room."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        key = widget_key("strategy")
        st.segmented_control(
            "Strategy",
            list(NAMES),
            default=view.strategy,
            required=True,
            format_func=NAMES.__getitem__,
            key=key,
            help=HELP,
            on_change=take,
            args=("strategy", key),
        )
        if view.strategy == "beam":
            _slider("size", "Beam size", 1, LARGEST_BEAM, 1, "Sentences that are kept alive at each step.")
            _slider("penalty", "Length penalty", 0.0, LARGEST_PENALTY, 0.1, PENALTY_HELP)
        elif view.strategy == "sampling":
            _sampling(view)


def _sampling(view: DecodingView) -> None:
    _slider("temperature", "Temperature", *TEMPERATURES, 0.05, TEMPERATURE_HELP, width=120)
    key = widget_key("top_k")
    st.number_input(
        "Top-k",
        1,
        LARGEST_TOP_K,
        view.top_k,
        key=key,
        on_change=take,
        args=("top_k", key),
        width=92,
        placeholder="all",
        help="Only this many of the likeliest tokens can be drawn. Empty: all.",
    )
    _slider(
        "top_p",
        "Top-p",
        LEAST_TOP_P,
        1.0,
        0.05,
        "Only the likeliest tokens can be drawn, as few as have this share of the probability together.",
        width=100,
    )
    key = widget_key("seed")
    st.number_input(
        "Seed",
        0,
        LARGEST_SEED,
        view.seed,
        key=key,
        on_change=take,
        args=("seed", key),
        width=110,
        help="Another number draws another sentence; the same one draws the same again.",
    )


def _slider(field: str, label: str, least: float, most: float, step: float, help: str, width: int = 125) -> None:
    view: DecodingView = st.session_state["view"]
    key = widget_key(field)
    st.slider(
        label,
        least,
        most,
        getattr(view, field),
        step,
        key=key,
        help=help,
        width=width,
        on_change=_take_slider,
        args=(field, key),
    )


def _take_slider(field: str, key: str) -> None:
    """A slider's fractions come with the dust of binary numbers: 0.30000000000000004."""
    update(**{field: round(st.session_state[key], 2)})
