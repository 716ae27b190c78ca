"""The encoding itself: some dimensions as curves, and all of them as a heatmap on the same axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from headlight.analysis.positions import frequencies, sinusoid
from headlight.charts.positions import Smooth, pooling, waves
from headlight.formatting import percent, two_digits
from transformer import Translator
from ui.positions.codes import Code, table_difference
from ui.positions.view import MAX_CURVES, PositionsView
from ui.state.view import bound, write_address
from ui.viewer.component import plot
from ui.widgets.disclosure import draw_when_open
from ui.widgets.table import number_table

_MAX_SMOOTH_POSITIONS = 400  # longer curves have enough points to look smooth
_POINTS_PER_POSITION = 8  # points drawn from a position to the next

_TITLES = {
    "sinusoidal": "Every position gets its own mixture of waves",
    "learned": "Every position gets its own trained vector",
    "stored": "Every position gets the vector that is stored for it",
    "none": "Every position gets the same",
    "integer": "Every position gets its number",
    "normalised": "Every position gets a number from 0 to 1",
    "binary": "Every position gets its bits",
}
_EXPLANATIONS = {
    "sinusoidal": "Above, some dimensions; below, all {width:,}, sines first. Fast waves tell neighbours apart, slow "
    "waves tell beginnings from ends.",
    "learned": "Above, some dimensions; below, all {width:,}. Only training decides what they look like.",
    "stored": "Above, some dimensions; below, all {width:,}: the table stored with the model. It may be learned, or "
    "sinusoidal with its dimensions in another order.",
    "none": "Nothing is added to the embeddings, so the network has no way to tell which came first.",
    "integer": "One number that counts. It grows without bound, and soon outweighs the embedding that it is added to.",
    "normalised": "One number: how far into the text. The same position gets another number in a longer text.",
    "binary": "Bits, the lowest first. Like waves, some are fast and some slow, but they jump where waves turn "
    "smoothly.",
}


def default_dims(code: Code) -> tuple[int, ...]:
    """Return four dimensions that show the most: of fast, middling and slow waves, else spread over the code."""
    width = code.table.shape[1]
    if code.scheme == "none":
        return (0,)
    if code.scheme == "binary":
        return tuple(range(min(width, 4)))
    return tuple(sorted({2 * (width * share // 32) for share in (1, 3, 5, 8)}))


@st.fragment
def draw_waves(code: Code, name: str, model: Translator) -> None:
    """Draw the encoding; the choice of dimensions is made here, so only this part is redrawn."""
    view: PositionsView = st.session_state["view"]
    n, width = code.table.shape
    untrained = code.scheme == "learned" and code.learned.model is None
    head, choice = st.columns([3, 2.2], gap="medium", vertical_alignment="bottom")
    with head:
        title = "A learned table starts as random numbers" if untrained else _TITLES[code.scheme]
        st.subheader(title, anchor=False)
        st.caption(_EXPLANATIONS[code.scheme].format(width=width))
    dims = [dim for dim in view.dims or () if dim < width]
    if not dims and view.dims != ():  # nothing was chosen, or nothing that this code has
        dims = [*default_dims(code)]
    with choice:
        _dims(code, dims)
    _notes(code, view, name)
    with st.container(key="waves"):
        plot(_figure(code, dims), key="waves-plot")
    _below(code, model)
    draw_when_open("The curves as a table", "waves-as-table", _as_table, code, dims)
    write_address()


def _dims(code: Code, dims: list[int]) -> None:
    width = code.table.shape[1]
    names = {dim: f"{dim} {('sine', 'cosine')[dim % 2]}" if code.paired else str(dim) for dim in range(width)}
    st.multiselect(
        "Dimensions as curves",
        range(width),
        dims,
        format_func=lambda dim: names[dim],
        **bound("dims", f"dims-{code.scheme}-{width}"),
        max_selections=MAX_CURVES,
        select_all=False,
        placeholder="Choose dimensions",
    )


def _figure(code: Code, dims: list[int]) -> Any:
    n, width = code.table.shape
    options: dict[str, Any] = {"theme": st.context.theme.type or "light"}
    if code.paired:
        omega = frequencies(width, code.base)
        options["wavelengths"] = 2 * np.pi / omega
        if n <= _MAX_SMOOTH_POSITIONS:
            x = np.linspace(0, n - 1, _POINTS_PER_POSITION * (n - 1) + 1)
            options["smooth"] = Smooth(x, sinusoid(x, omega)[:, dims])
    return waves(code.table, dims, **options)


def _notes(code: Code, view: PositionsView, name: str) -> None:
    """Say what is shown instead of what was asked for."""
    n, owner = len(code.table), code.learned.model
    if not code.of_table:
        return
    if owner is None:
        st.info(
            "No model here has learned positions, so this table is **untrained**: a random initialisation. The "
            "option `--positions learned` trains one.",
            icon=":material/info:",
        )
    elif owner != name:
        st.caption(f":material/info: The model in use has no learned positions; these are from {owner}.")
    if n < view.positions:
        st.caption(f":material/info: The table ends after {n:,} positions: there is no encoding for the next one.")


def _below(code: Code, model: Translator) -> None:
    n, width = code.table.shape
    notes = []
    if code.paired:
        slowest = 2 * np.pi / frequencies(width, code.base)[-1]
        share = slowest / (2 * np.pi * code.base)  # base^(-2 / d_model)
        notes.append(
            f"Wavelengths rise from 2π to {slowest:,.0f} positions, which is {percent(share)} of {code.base:,.10g} · "
            f"2π = {2 * np.pi * code.base:,.0f}: the wider the table, the closer."
        )
        largest_difference = table_difference(model.model, width, code.base)
        if largest_difference is not None and largest_difference < 1e-3:
            notes.append(
                ":material/check_circle: The model's own table is the same: they differ by "
                f"{two_digits(largest_difference)} at most."
            )
    block, every = pooling(n, width, code.paired)
    if block > 1:
        notes.append(f"A column is the mean of {block} positions, so waves shorter than that come out grey.")
    if every > 1:
        notes.append(f"One row in {every} is drawn.")
    if n > _MAX_SMOOTH_POSITIONS:
        notes.append("Drag over the picture to zoom in; double-click to zoom out.")
    if notes:
        st.caption(" ".join(notes))


def _as_table(code: Code, dims: list[int]) -> None:
    """Draw the numbers of the curves."""
    table: dict[str, Any] = {"position": np.arange(len(code.table))}
    table |= {f"dimension {dim}": code.table[:, dim] for dim in dims}
    number_table(table, 6, "waves-table")
