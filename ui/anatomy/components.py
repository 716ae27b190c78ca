"""The Anatomy page's views as Streamlit components. What the browser sends is checked before it is believed."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui.viewer.assets import script, style


def _component(name: str, mount: str, *scripts: str):  # type: ignore[no-untyped-def]
    entry = f"\nexport default given => component({mount}, given);\n"
    return st.components.v2.component(
        f"headlight_{name}",
        html='<div class="hl"></div>',
        css=style("viewer") + style("anatomy"),
        js=script("core", "shared", *scripts, "streamlit") + entry,
    )


_MAP = _component("map", "mountMap", "chips", "map")
_WALK = _component("walk", "mountWalk", "math", "strip", "chips", "stages", "board", "walk")
_PARTS = _component("parts", "mountParts", "math", "strip", "chips", "parts")
_LENS = _component("lens", "mountLens", "strip", "lens")


def network_map(payload: bytes, *, key: str, on_pick: Callable[[int, int | None], None]) -> None:
    """The map; `on_pick` hears of the index of a part, and of a head where one was picked."""

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
    """The nine stages; `on_pick` hears of `head=` or `query=`, `on_shown` of stage, key and the two switches."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"head": int(head)} if head >= 0:
                on_pick(head=head)
            case {"query": int(query)} if query >= 0:
                on_pick(query=query)

    def shown() -> None:
        match st.session_state[key].get("shown"):
            case {"stage": int(stage), "key": int(row), "unscaled": bool(unscaled), "unmasked": bool(unmasked)}:
                on_shown(stage, row, unscaled, unmasked)

    _WALK(data=payload, key=key, on_pick_change=picked, on_shown_change=shown)


def parts(payload: bytes, *, key: str, on_pick: Callable[[int], None]) -> None:
    """The vectors of a token; `on_pick` hears of another token."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"query": int(query)} if query >= 0:
                on_pick(query)

    _PARTS(data=payload, key=key, on_pick_change=picked)


def lens(payload: bytes, *, key: str, on_pin: Callable[[tuple[int, ...]], None]) -> None:
    """The table of tokens over layers; `on_pin` hears of the cell that is kept, () for none."""

    def pinned() -> None:
        match st.session_state[key].get("shown"):
            case [int(row), int(token)] if row >= 0 and token >= 0:
                on_pin((row, token))
            case None:
                on_pin(())

    _LENS(data=payload, key=key, on_shown_change=pinned)
