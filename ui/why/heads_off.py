"""The heads that are off while a token is explained, and what that does to its probability."""

from __future__ import annotations

import math

import streamlit as st

from headlight.analysis.head_changes import HeadChange, describe_changes, switched_off
from headlight.formatting import signed
from transformer import Trace
from ui.state.view import bound
from ui.why.view import WhyView
from ui.widgets.frame import Opened
from ui.widgets.text import literal


def draw(opened: Opened[WhyView], complete: Trace, trace: Trace, step: int) -> None:
    """Draw the choice of heads and, where some are changed, the token's probability without and with the changes."""
    changes = opened.view.changes
    changed = {(c.kind, c.layer, c.head): c for c in changes}  # some may be uniform or scaled, from Attention
    every = [changed.get((c.kind, c.layer, c.head), c) for c in switched_off(opened.model.model)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.multiselect(
            "Switch heads off",
            every,
            list(changes),
            format_func=_name,
            placeholder="None is off",
            width=320,
            help="The page explains the model without these heads. The translation stays that of all heads.",
            **bound("changes", convert=tuple, step=step + 1),
        )
        if changes:
            before, after = (float(run.log_probs[step]) for run in (complete, trace))
            st.markdown(
                f"With {describe_changes(changes)}, the probability of “{literal(trace.writes.labels[step])}” is "
                f"**{_probability(after)}** instead of **{_probability(before)}** "
                f"({signed(after - before, plus=True)} nats)."
            )


def _name(change: HeadChange) -> str:
    """Return the name of a head: "cross 3.4", or "cross 3.4 uniform" where it is changed in another way."""
    return describe_changes([change]).removesuffix(" off")


def _probability(log_prob: float) -> str:
    return f"{math.exp(log_prob):.3f}" if log_prob >= math.log(5e-4) else "less than 0.001"
