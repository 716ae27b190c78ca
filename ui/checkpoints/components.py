"""The Checkpoints page's own components: the shelf of models, and the picture of where the parameters are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from headlight.viewer.packing import pack
from ui.viewer.component import component

_MODELS = component("models", "mountModels", "shared", "icons", "models", styles=("checkpoints",))
_BLOCKS = component("blocks", "mountBlocks", "shared", "icons", "blocks", styles=("checkpoints",))


def models(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """The shelf; `on_pick` gets {"open": name}, {"tick": names}, {"compare": two names} or {"bring": True}."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case {"open": str()} | {"bring": True} as pick:
                on_pick(pick)
            case {"tick": [*names]} | {"compare": [str(), str()] as names} as pick if all(
                isinstance(name, str) for name in names
            ):
                on_pick(pick)

    _MODELS(data=pack(header, {}), key=key, on_pick_change=picked)


def blocks(header: Mapping[str, Any], *, key: str, on_pick: Callable[[str], None]) -> None:
    """The picture of the parameters; `on_pick` gets the path of a block."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case str(path):
                on_pick(path)

    _BLOCKS(data=pack(header, {}), key=key, on_pick_change=picked)
