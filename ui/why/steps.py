"""The written tokens to choose from, and how much of each came from the source."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from transformer import Trace
from transformer.charts.colours import theme_named
from ui.state.view import reseed, update, widget_key
from ui.viewer.plot import plot
from ui.why.passes import origins_of
from ui.why.view import WhyView
from ui.widgets.text import literal


def section(name: str, view: WhyView, trace: Trace) -> int:
    """Draws them; returns the chosen step, from 0."""
    labels, last = trace.writes.labels, len(trace.writes) - 1
    step = min((view.step or 1) - 1, last)
    key = widget_key("step")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for label, icon, to, shortcut in (
            ("Previous token", "chevron_left", step - 1, "PageUp"),
            ("Next token", "chevron_right", step + 1, "PageDown"),
        ):
            st.button(
                label,
                icon=f":material/{icon}:",
                shortcut=shortcut,
                disabled=not 0 <= to <= last,
                on_click=_go,
                args=(to,),
            )
    st.segmented_control(
        "The written token",
        range(last + 1),
        default=step,
        format_func=lambda at: f"{at + 1} {literal(labels[at])}",  # two that read the same would be one choice
        key=key,
        required=True,
        on_change=lambda: update(step=st.session_state[key] + 1, instead=None),
    )
    _balance(name, trace)
    return step


def _go(step: int) -> None:
    update(step=step + 1, instead=None)
    reseed()


def _balance(name: str, trace: Trace) -> None:
    shares, theme = origins_of(name, trace).shares, theme_named(st.context.theme.type or "light")
    at = list(range(len(trace.writes)))
    bars = (
        ("source sentence", shares.source, theme.accent, ""),
        ("written so far", shares.prefix, theme.line, "/"),  # told apart by the hatching too
    )
    figure = go.Figure(
        [
            go.Bar(x=at, y=100 * part.sum(-1), name=side, marker={"color": colour, "pattern": {"shape": hatching}})
            for side, part, colour, hatching in bars
        ]
    )
    figure.update_layout(
        barmode="stack",
        height=190,
        margin={"l": 48, "r": 8, "t": 32, "b": 64},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": theme.text},
        legend={"orientation": "h", "y": 1.25},
        xaxis={"tickvals": at, "ticktext": trace.writes.labels},
        yaxis={"title": "share, %", "range": [0, 100], "gridcolor": theme.line},
        meta="The shares of the source sentence and of what was written before, behind each written token.",
    )
    plot(figure, key="why-balance")
    st.caption(
        "Each bar: how much of the token came from the source sentence, and how much from what was written so far."
    )
