"""The Why page's views as Streamlit components. What the browser sends is validated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import streamlit as st

from headlight.charts.document import Drawing, inline
from headlight.charts.why import Map
from headlight.viewer.packing import pack
from transformer.trace import Kind
from ui.viewer.component import component

Row = dict[str, str | float | None]
KIND_NAMES: dict[Kind, str] = {"encoder": "Encoder", "decoder": "Decoder self", "cross": "Cross"}
TOLERANCE = 1e-3  # how far two numbers that should be the same may be apart: less than the page shows
_SCRUBBER = component("scrubber", "mountScrubber", "shared", "scrubber", styles=("why",))
_DRAWING = component("drawing", "mountDrawnPicture", "drawing_svg")


def scrubber(
    labels: Sequence[str],
    shares: Sequence[float],
    step: int,
    names: tuple[str, str],
    *,
    key: str,
    on_step: Callable[[int], None],
) -> None:
    """Draw the written tokens with the share of the source under each; `names` are the labels of the two shares."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"step": int(to)} if 0 <= to < len(labels):
                on_step(to)

    header = {"labels": list(labels), "shares": list(shares), "selected": step, "names": list(names)}
    _SCRUBBER(data=pack(header, {}), key=key, on_pick_change=picked)


NARROW_PIXELS = 312  # the width of a phone's column


def draw_picture(
    draw: Callable[[str, int], Drawing], across: int, *, key: str, on_pick: Callable[[str], None] | None = None
) -> None:
    """Draw what `draw` returns for a theme and a width in pixels; `on_pick` receives the element that was chosen."""
    theme = st.context.theme.type or "light"
    drawings = [draw(theme, across), draw(theme, NARROW_PIXELS)]
    picks = {pick for element in drawings[0].elements for pick in _picks(element)}

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"of": str(element)} if on_pick is not None and element in picks:
                on_pick(element)

    svgs = [{"svg": inline(drawing), "across": drawing.size[0]} for drawing in drawings]
    _DRAWING(data=pack({"drawn": svgs, "alt": drawings[0].says}, {}), key=key, on_pick_change=picked)


def _picks(element: str) -> list[str]:
    _, *rest = element.split(' data-pick="')
    return [part.split('"', 1)[0] for part in rest]


def head_grid(name: str, values: np.ndarray, picks: Sequence[Sequence[str]] | None = None) -> Map:
    """Return the grid of a number for each head of each layer, [L, H]."""
    layers, heads = values.shape
    rows, columns = [f"layer {layer + 1}" for layer in range(layers)], [str(head + 1) for head in range(heads)]
    return Map(name, values, rows, columns, picks)


def head_rows(by_kind: Mapping[Kind, np.ndarray], column: str) -> list[Row]:
    """Return a row for each head of each kind of attention, with its number in `column`."""
    return [
        {"Attention": KIND_NAMES[kind], "Layer": f"{layer + 1}", "Head": f"{head + 1}", column: float(value)}
        for kind, values in by_kind.items()
        for (layer, head), value in np.ndenumerate(values)
    ]


def finite(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return None if math.isnan(value) else value


def check(holds: bool, says: str) -> None:
    st.caption(f":material/{'check_circle' if holds else 'error'}: {says}")


def table(rows: Sequence[Row], name: str) -> None:
    columns = list(rows[0])
    config = {
        column: st.column_config.NumberColumn(column, format="%.3f")
        for column in columns
        if not isinstance(rows[0][column], str)
    }
    values = {column: [row[column] for row in rows] for column in columns}
    st.dataframe(values, hide_index=True, column_config=config, key=name)
