"""The picture of the Heads page: for each measure every head of one kind of attention, a layer a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from headlight.viewer.packing import pack
from ui.viewer.component import component

_ATLAS = component("atlas", "mountAtlas", "icons", "shared", "atlas", styles=("atlas",))


def atlas_picture(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """`on_pick` gets {"head": [layer, head], "measure": name} or {"step": step or None}."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"head": [int(), int()], "measure": str()} | {"step": int() | None} as pick:
                on_pick(pick)

    _ATLAS(data=pack(header, {}), key=key, on_pick_change=picked)
