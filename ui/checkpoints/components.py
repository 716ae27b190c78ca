"""The Checkpoints page's own components: the shelf of models, and the picture of where the parameters are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from ui.viewer.assets import script, style
from ui.viewer.packing import pack


def _component(name: str, mount: str, *scripts: str):  # type: ignore[no-untyped-def]
    entry = f"\nexport default given => component({mount}, given);\n"
    return st.components.v2.component(
        f"headlight_{name}",
        html='<div class="hl"></div>',
        css=style("viewer") + style("checkpoints"),
        js=script("core", "shared", "icons", *scripts, "streamlit") + entry,
    )


_MODELS = _component("models", "mountModels", "models")
_BLOCKS = _component("blocks", "mountBlocks", "blocks")


def models(header: Mapping[str, Any], *, key: str, on_pick: Callable[[Mapping[str, Any]], None]) -> None:
    """The shelf; `on_pick` hears of {"open": name}, {"tick": names}, {"compare": two names} or {"bring": True}."""

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
    """The picture of the parameters; `on_pick` hears of the path of a block."""

    def picked() -> None:
        match st.session_state[key].get("pick"):
            case str(path):
                on_pick(path)

    _BLOCKS(data=pack(header, {}), key=key, on_pick_change=picked)
