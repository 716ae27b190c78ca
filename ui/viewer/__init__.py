"""The attention viewer as Streamlit components: every head, the lines of a layer, one large head.

Layers and heads count from 0 here, as in arrays. Letters: L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from headlight.viewer.packing import (
    EveryHead,
    HeadOptions,
    Kinds,
    Labels,
    LinesOptions,
    MarkedCell,
    Profile,
    Shows,
    chosen_payload,
    head_payload,
    lines_payload,
    pack_kinds,
)
from ui.viewer.component import component

__all__ = [
    "EveryHead",
    "MarkedCell",
    "Kinds",
    "Labels",
    "LinesState",
    "Profile",
    "Shows",
    "big_head",
    "lines",
    "overview",
    "pack_kinds",
]


@dataclass(frozen=True)
class LinesState:
    """The state of the line view: the chosen heads and the share of each row that is drawn (0.5 to 1)."""

    heads: tuple[int, ...]
    mass: float


_KINDS = component("kinds", "mountKinds", "shared", "kinds")
_OVERVIEW = component("overview", "mountChosen", "shared", "overview", "chosen")
_LINES = component("lines", "mountLines", "shared", "lines")
_HEAD = component("head", "mountHead", "shared", "icons", "map_box", "map_axes", "head")


def overview(
    kinds: Kinds,
    *,
    key: str,
    kind: str,
    selected: tuple[int, int],
    switch: str | None = None,
    on_pick: Callable[[int, int], None] | None = None,
) -> tuple[int, int] | None:
    """Draw every head of a kind as a thumbnail; return the (layer, head) picked just now, else None.

    `switch` is the CSS selector of the buttons that choose among the kinds: pressing one draws its kind at once.
    `on_pick` is called before the script runs again, so it may set what widgets are drawn from.
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
    start: LinesState,
    *,
    key: str,
    on_change: Callable[[LinesState], None] | None = None,
    on_held: Callable[[MarkedCell], None] | None = None,
    **options: Unpack[LinesOptions],
) -> LinesState:
    """Draw the heads of one layer, [H, Q, K], as lines from `rows` to `columns`; return what is shown.

    `start` is shown first, and again when it changes. Rows stand level with those of `big_head` where that stands
    beside. `held` stays marked; `on_held` gets another held cell before the script runs again.
    """
    memory = st.session_state.setdefault(f"{key}-shown", {})
    if memory.get("start") != start:
        memory.clear()
        memory["start"] = start
    state: LinesState = memory.get("now", start)
    payload = lines_payload(patterns, rows, columns, state.heads, state.mass, **options)
    count = patterns.shape[0]

    def changed() -> None:
        chosen = _state(st.session_state[key].get("shown"), count)
        if chosen is not None:
            memory["now"] = chosen
            if on_change is not None:
                on_change(chosen)

    _LINES(data=payload, key=key, on_shown_change=changed, on_held_change=_holder(key, patterns.shape[1:], on_held))
    return state


def big_head(
    pattern: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    masked: NDArray[np.bool_] | None = None,
    *,
    key: str,
    on_held: Callable[[MarkedCell], None] | None = None,
    **options: Unpack[HeadOptions],
) -> None:
    """Draw one head, [Q, K], on a canvas with zoom and pan; `on_held` is as in `lines`."""
    data = head_payload(pattern, rows, columns, masked, **options)
    _HEAD(data=data, key=key, on_held_change=_holder(key, pattern.shape, on_held))


def _holder(key: str, shape: Sequence[int], on_held: Callable[[MarkedCell], None] | None) -> Callable[[], None]:
    """Return the callback of a component that holds rows and columns of [Q, K]: it tells `on_held` what is held now."""

    def changed() -> None:
        if on_held is not None:
            on_held(_read_held(st.session_state[key].get("held"), shape))

    return changed


def _read_held(value: object, shape: Sequence[int]) -> MarkedCell:
    """Return the held cell that the browser sent, or None where none is held or it is not in `shape`."""
    match value:
        case [int() | None as row, int() | None as column] if row is not None or column is not None:
            if all(at is None or 0 <= at < count for at, count in zip((row, column), shape, strict=True)):
                return row, column
    return None


def _pick(value: object, shape: Sequence[int]) -> tuple[int, int] | None:
    """Return what the browser sent as (layer, head), or None where it is not a head of these patterns."""
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
