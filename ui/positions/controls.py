"""The controls of the page: the scheme, the number of positions, the base and the width."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from transformer import ModelConfig
from ui.positions.codes import own_scheme, scheme_of, schemes_of
from ui.positions.view import MAX_BASE, MAX_WIDTH, PositionsView
from ui.state.view import bound, number, reseed, whole_number
from ui.widgets.controls import choose

_LENGTHS = (1, 2, 5, 10, 16, 25, 50, 100, 150, 200, 300, 512, 1_000, 2_000, 5_000, 10_000)
_BASES = ("10,000", "1,000", "100")
_WIDTHS = (16, 64, 128, 256, 512)
_REFUSAL_KEY = "positions-refused"


def controls(view: PositionsView, config: ModelConfig) -> None:
    """Draw the controls; an invalid value is refused in a sentence below them."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        help_text = f"How a position becomes a vector. The model in use: {own_scheme(config)}."
        choose(view, "scheme", "Scheme", schemes_of(config), scheme_of(view, config), help=help_text)
        lengths = sorted({*_LENGTHS, view.positions})
        st.select_slider(
            "Positions",
            lengths,
            view.positions,
            format_func=lambda n: f"{n:,}",
            **bound("positions"),
            width=150,
        )
        base = f"{view.base:,.10g}"
        _typed(
            "Base",
            "base",
            [*_BASES] if base in _BASES else [*_BASES, base],
            base,
            lambda text: number(text, 1, MAX_BASE),
            f"a number from 1 to {MAX_BASE:,}",
            "10,000 in the paper: the longest wavelength is nearly base · 2π positions. You can type any other.",
        )
        width = view.d_model or config.d_model
        _typed(
            "d_model",
            "d_model",
            [str(w) for w in sorted({*_WIDTHS, config.d_model, width})],
            str(width),
            lambda text: whole_number(text, 1, MAX_WIDTH),
            f"a whole number from 1 to {MAX_WIDTH:,}",
            f"Dimensions of an encoding. The model in use has {config.d_model}. You can type any other.",
        )
    refused = st.session_state.pop(_REFUSAL_KEY, None)
    if refused:
        st.info(refused, icon=":material/info:")


def _typed(
    label: str,
    field: str,
    options: list[str],
    value: str,
    parse: Callable[[str], float | None],
    allowed: str,
    explained: str,
) -> None:
    """Draw a box with some values to choose from, which takes any other that `parse` understands."""

    def convert(typed: str | None) -> float | None:
        text = typed or ""
        number = parse(text.replace(",", "").strip())
        if number is None:
            st.session_state[_REFUSAL_KEY] = f"{label} is {text[:40]!r}; type {allowed}."
            reseed()
            number = getattr(st.session_state["view"], field)
        return number

    st.selectbox(
        label,
        options,
        index=options.index(value),
        **bound(field, convert=convert),
        accept_new_options=True,
        filter_mode="prefix",
        width=112,
        help=explained,
    )
