"""The attention viewer as Streamlit components: every head, the lines of a layer, one large head.

Layers and heads count from 0 here, as in arrays. Letters: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from ui.viewer.component import component
from ui.viewer.packing import (
    EveryHead,
    Kinds,
    Profile,
    Scale,
    chosen_payload,
    head_payload,
    lines_payload,
    pack_kinds,
)

__all__ = [
    "EveryHead",
    "Kinds",
    "LinesState",
    "Profile",
    "big_head",
    "lines",
    "overview",
    "pack_kinds",
]


@dataclass(frozen=True)
class LinesState:
    """What the line view shows: the chosen heads and the share of each row that is drawn (0.5 to 1)."""

    heads: tuple[int, ...]
    mass: float


_KINDS = component("kinds", "mountKinds", "shared", "kinds")
_OVERVIEW = component("overview", "mountChosen", "shared", "overview", "chosen")
_LINES = component("lines", "mountLines", "shared", "link", "lines")
_HEAD = component("head", "mountHead", "shared", "head")


def overview(
    kinds: Kinds,
    *,
    key: str,
    kind: str,
    selected: tuple[int, int],
    switch: str | None = None,
    on_pick: Callable[[int, int], None] | None = None,
) -> tuple[int, int] | None:
    """Every head of a kind as a thumbnail; returns the (layer, head) picked just now, else None.

    `switch` is the CSS selector of the buttons that choose among the kinds: what they are pressed for is drawn at
    once. `on_pick` is called before the script runs again, so it may set what widgets are drawn from.
    """
    shape = kinds.shapes[kind]

    def picked() -> None:
        pick = _pick(st.session_state[key].get("pick"), shape)
        if pick is not None and on_pick is not None:
            on_pick(*pick)

    with st.container(key=f"{key}-kinds"):
        _KINDS(data=kinds.payload, key=f"{key}-patterns")
    return _pick(
        _OVERVIEW(data=chosen_payload(kinds, kind, selected, switch), key=key, on_pick_change=picked).pick, shape
    )


def lines(
    patterns: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    key: str,
    rows_read: Sequence[str] | None = None,
    heads: Sequence[int] = (0,),
    mass: float = 0.9,
    peak: float = 1.0,
    top: float | None = None,
    row: float | None = None,
    plot: str | None = None,
    title: str | None = "Lines",
    on_change: Callable[[LinesState], None] | None = None,
) -> LinesState:
    """The heads of one layer, [H, Q, K], as lines from `rows` to `columns`; returns what is shown.

    `heads` and `mass` are what it starts with, and starts again with when they change. `rows_read` are
    the tokens read at each row where `rows` are those written. `plot` is the CSS selector of a Plotly
    heatmap on the page to light up together with; rows stand level with it where it stands beside,
    unless `top` and `row` give the first row's top edge and the row height in pixels.
    """
    start = LinesState(tuple(int(h) for h in heads), float(mass))
    memory = st.session_state.setdefault(f"{key}-shown", {})
    if memory.get("start") != start:
        memory.clear()
        memory["start"] = start
    now: LinesState = memory.get("now", start)
    payload = lines_payload(
        patterns,
        rows,
        columns,
        rows_read=rows_read,
        heads=now.heads,
        mass=now.mass,
        peak=peak,
        top=top,
        row=row,
        plot=plot,
        title=title,
    )
    count = patterns.shape[0]

    def changed() -> None:
        chosen = _state(st.session_state[key].get("shown"), count)
        if chosen is not None:
            memory["now"] = chosen
            if on_change is not None:
                on_change(chosen)

    _LINES(data=payload, key=key, on_shown_change=changed)
    return now


def big_head(
    pattern: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    masked: NDArray[np.bool_] | None = None,
    *,
    key: str,
    rows_read: Sequence[str] | None = None,
    scale: Scale = "fixed",
    peak: float = 1.0,
) -> None:
    """One head, [Q, K], on a canvas with zoom and pan: for lengths at which a Plotly chart gets slow."""
    data = head_payload(pattern, rows, columns, masked=masked, rows_read=rows_read, scale=scale, peak=peak)
    _HEAD(data=data, key=key)


def _pick(value: object, shape: Sequence[int]) -> tuple[int, int] | None:
    """What the browser sent as (layer, head), or None where it is not a head of these patterns."""
    match value:
        case [int(layer), int(head)] if 0 <= layer < shape[0] and 0 <= head < shape[1]:
            return int(layer), int(head)
    return None


def _state(value: object, count: int) -> LinesState | None:
    match value:
        case {"heads": [*heads], "mass": float() | int() as mass} if heads and 0.5 <= mass <= 1:
            chosen = tuple(int(h) for h in heads if isinstance(h, int) and 0 <= h < count)
            return LinesState(chosen, float(mass)) if chosen else None
    return None
