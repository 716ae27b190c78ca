"""The heads that are off while a token is explained, and what that does to its probability."""

from __future__ import annotations

import math

import streamlit as st

from headlight.analysis.head_changes import HeadChange, describe_changes, switched_off
from headlight.formatting import signed, three_digits
from transformer import Trace
from ui.state.view import bound
from ui.why.passes import WrittenToken
from ui.widgets.text import literal


def draw(token: WrittenToken, complete: Trace) -> None:
    """Draw the choice of heads and, where some are changed, the token's probability in `complete` and with the changes.
    """
    changes = token.view.changes
    changed = {(c.kind, c.layer, c.head): c for c in changes}  # some may be uniform or scaled, from Attention
    every = [changed.get((c.kind, c.layer, c.head), c) for c in switched_off(token.model.model)]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.multiselect(
            "Switch heads off",
            every,
            list(changes),
            format_func=_name,
            placeholder="None is off",
            width=320,
            help="The page explains the model without these heads. The translation stays that of all heads.",
            **bound("changes", convert=tuple, step=token.step + 1),
        )
        if changes:
            log_probs = [float(trace.log_probs[token.step]) for trace in (complete, token.trace)]
            before, after = map(math.exp, log_probs)
            st.markdown(
                f"With {describe_changes(changes)}, the probability of “{literal(token.label)}” is "
                f"**{three_digits(after)}** instead of **{three_digits(before)}** "
                f"({signed(log_probs[1] - log_probs[0], plus=True)} nats)."
            )


def _name(change: HeadChange) -> str:
    """Return the name of a head: "cross 3.4", or "cross 3.4 uniform" where it is changed in another way."""
    return describe_changes([change]).removesuffix(" off")
