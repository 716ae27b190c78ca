"""The Anatomy page's views as Streamlit components. What the browser sends is validated."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.viewer.component import component

_MAP = component("map", "mountMap", "shared", "icons", "chips", "map", styles=("anatomy",))
_WALK = component(
    "walk", "mountWalk", "shared", "icons", "math", "strip", "chips", "stages", "board", "walk", styles=("anatomy",)
)
_PARTS = component("parts", "mountParts", "shared", "icons", "math", "strip", "chips", "parts", styles=("anatomy",))
_LENS = component("lens", "mountLens", "shared", "math", "strip", "lens", styles=("anatomy",))


def network_map(payload: bytes, *, key: str, on_pick: Callable[[int, int | None], None]) -> None:
    """Draw the map; `on_pick` gets the index of a part, and a head where one was picked."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"part": int(part), "head": None}:
                on_pick(part, None)
            case {"part": int(part), "head": int(head)}:
                on_pick(part, head)

    _MAP(data=payload, key=key, on_pick_change=picked)


def walk(
    payload: bytes, *, key: str, on_pick: Callable[..., None], on_shown: Callable[[int, int, bool, bool], None]
) -> None:
    """Draw the nine stages; `on_pick` gets `head=` or `query=`, `on_shown` the stage, the key and the two switches."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"head": int(head)} if head >= 0:
                on_pick(head=head)
            case {"query": int(query)} if query >= 0:
                on_pick(query=query)

    def update_shown() -> None:
        match st.session_state[key].get("shown"):
            case {"stage": int(stage), "key": int(row), "unscaled": bool(unscaled), "unmasked": bool(unmasked)}:
                on_shown(stage, row, unscaled, unmasked)

    _WALK(data=payload, key=key, on_pick_change=picked, on_shown_change=update_shown)


def parts(payload: bytes, *, key: str, on_pick: Callable[[int], None]) -> None:
    """Draw the vectors of a token; `on_pick` gets another token."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"query": int(query)} if query >= 0:
                on_pick(query)

    _PARTS(data=payload, key=key, on_pick_change=picked)


def lens(payload: bytes, *, key: str, on_pin: Callable[[tuple[int, ...]], None]) -> None:
    """Draw the table of tokens over layers; `on_pin` gets the cell that is pinned, () for none."""

    def pinned() -> None:
        match st.session_state[key].get("shown"):
            case [int(row), int(token)] if row >= 0 and token >= 0:
                on_pin((row, token))
            case None:
                on_pin(())

    _LENS(data=payload, key=key, on_shown_change=pinned)
