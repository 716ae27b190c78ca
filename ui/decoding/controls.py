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
    "Greedy: the most probable token at each step. Beam: the best hypotheses are kept at each step, and the best "
    "finished one wins. Sampling: each token is drawn at random by its probability."
)
PENALTY_HELP = (
    "Each token lowers a hypothesis' log-probability, which favours short ones. The score divides it by "
    "((5 + length) / 6) to this power α: 0 changes nothing, larger values favour longer sentences."
)
TEMPERATURE_HELP = (
    "Divides the logits: below 1 probable tokens become more probable, above 1 less. The model is not run again while "
    "the same tokens are drawn."
)
BEAM_TEMPERATURE_HELP = (
    "Divides the logits before the scores are summed: above 1 it matters less how sure the model was of each token. 1 "
    "changes nothing. Log-probabilities stay the model's own."
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
            _slider("size", "Beam size", 1, LARGEST_BEAM, 1, "Hypotheses that are kept at each step.")
            _slider("penalty", "Length penalty", 0.0, LARGEST_PENALTY, 0.1, PENALTY_HELP)
            _slider("temperature", "Temperature", *TEMPERATURES, 0.05, BEAM_TEMPERATURE_HELP)
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
        help="Only the k most probable tokens can be drawn. Empty: all.",
    )
    _slider(
        "top_p",
        "Top-p",
        LEAST_TOP_P,
        1.0,
        0.05,
        "Only tokens of the nucleus can be drawn: the smallest set of tokens whose probabilities reach p.",
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
        help="A different seed can draw a different sentence; the same seed repeats it.",
    )


def _slider(field: str, label: str, least: float, most: float, step: float, help: str, width: int = 125) -> None:
    view: DecodingView = st.session_state["view"]
    key = widget_key(field)
    st.slider(
        label,
        least,
        most,
        view.warmth if field == "temperature" else getattr(view, field),
        step,
        key=key,
        help=help,
        width=width,
        on_change=_take_slider,
        args=(field, key),
    )


def _take_slider(field: str, key: str) -> None:
    """Rounds away the binary error of a slider's fractions: 0.30000000000000004."""
    update(**{field: round(st.session_state[key], 2)})
