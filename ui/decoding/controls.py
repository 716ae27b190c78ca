"""The choice of a strategy, and its settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from headlight.language import gettext, within
from transformer.decoding.strategies import STRATEGIES, Parameter
from ui.decoding.view import DecodingView
from ui.state.view import bound
from ui.widgets.controls import choose

MAX_SLIDER_VALUE = 100  # a parameter that goes beyond is typed, not dragged


def controls(view: DecodingView) -> None:
    """Draw the choice of a strategy and its own settings, side by side where there is room."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        labels = {name: gettext(strategy.label) for name, strategy in STRATEGIES.items()}
        help_text = " ".join(f"{labels[name]}: {within(gettext(each.help))}" for name, each in STRATEGIES.items())
        choose(view, "strategy", gettext("Strategy"), labels, help=help_text)
        parameters = STRATEGIES[view.strategy].parameters
        for parameter in parameters:
            _control(view, parameter, width=125 if len(parameters) < 4 else 108)


def _control(view: DecodingView, parameter: Parameter, width: int) -> None:
    shared = bound(parameter.field, convert=_rounded) | {"help": gettext(parameter.help), "width": width}
    bounds: Any = (parameter.least, parameter.most, view.value(parameter))
    if parameter.most > MAX_SLIDER_VALUE:
        st.number_input(gettext(parameter.label), *bounds, placeholder=gettext("all"), **shared)
    else:
        st.slider(gettext(parameter.label), *bounds, step=parameter.step, **shared)


def _rounded(value: float | None) -> float | None:
    """Return a widget's value without the binary error of a slider's fractions: 0.30000000000000004."""
    return round(value, 2) if isinstance(value, float) else value
