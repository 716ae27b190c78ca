"""The choice of a strategy, and its settings."""

from __future__ import annotations

from typing import Any

import streamlit as st

from headlight.language import gettext, within
from transformer.decoding.strategies import STRATEGIES, Parameter
from ui.decoding.view import DecodingView
from ui.state.view import take, update, widget_key

MAX_SLIDER = 100  # a parameter that goes beyond is typed, not dragged


def controls(view: DecodingView) -> None:
    """Draw the choice of a strategy and its own settings, side by side where there is room."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        key = widget_key("strategy")
        st.segmented_control(
            gettext("Strategy"),
            list(STRATEGIES),
            default=view.strategy,
            required=True,
            format_func=lambda name: gettext(STRATEGIES[name].label),
            key=key,
            help=" ".join(f"{gettext(each.label)}: {within(gettext(each.help))}" for each in STRATEGIES.values()),
            on_change=take,
            args=("strategy", key),
        )
        parameters = STRATEGIES[view.strategy].parameters
        for parameter in parameters:
            _control(view, parameter, width=125 if len(parameters) < 4 else 108)


def _control(view: DecodingView, parameter: Parameter, width: int) -> None:
    key = widget_key(parameter.field)
    shared: dict[str, Any] = {"key": key, "help": gettext(parameter.help), "width": width}
    shared |= {"on_change": _take, "args": (parameter.field, key)}
    bounds: Any = (parameter.least, parameter.most, view.value(parameter))
    if parameter.most > MAX_SLIDER:
        st.number_input(gettext(parameter.label), *bounds, placeholder=gettext("all"), **shared)
    else:
        st.slider(gettext(parameter.label), *bounds, step=parameter.step, **shared)


def _take(field: str, key: str) -> None:
    """Take a widget's value without the binary error of a slider's fractions: 0.30000000000000004."""
    value = st.session_state[key]
    update(**{field: round(value, 2) if isinstance(value, float) else value})
