"""The exercises that ask the reader to write the open part, as files to download."""

from __future__ import annotations

import streamlit as st

from headlight.analysis.network import NetworkPart
from headlight.folders import COMMAND
from headlight.teaching.exercises import stub
from transformer.config import ModelConfig
from transformer.t5 import T5Config
from ui.anatomy.chosen import stack_of


def files(part: NetworkPart, config: ModelConfig) -> list[str]:
    """Return the stubs of docs/exercises that are about a part, as this model has it."""
    layer = f"{stack_of(part.kind)}_layer.py"
    of = {
        "embedding": ["positions.py", "embedding.py"] if config.positions == "sinusoidal" else [],
        "attention": ["attend.py", "multi_head.py", "masks.py"],
        "ff": ["feed_forward.py", layer],
        "attention-norm": ["layer_norm.py", layer],
        "ff-norm": ["layer_norm.py", layer],
        "norm": ["layer_norm.py"],
        "output": ["model.py", "greedy.py", "beam.py"],
    }[part.name]
    return [file for file in of if file != "layer_norm.py" or not isinstance(config, T5Config)]


def offer(part: NetworkPart, config: ModelConfig) -> None:
    """Draw a menu with the stubs, and how an answer is checked."""
    offered = files(part, config)
    if not offered:
        return
    menu = st.popover("Write it yourself", icon=":material/edit_note:", type="tertiary", key="write", on_change="rerun")
    if not menu.open:
        return
    with menu:
        st.markdown("Take an exercise, fill in its body, and let it be compared with Headlight's own:")
        for file in offered:
            st.download_button(
                file,
                stub(file),
                file,
                "text/x-python",
                icon=":material/download:",
                on_click="ignore",
                key=f"write-{file}",
                help=title(file),
                width="stretch",
            )
        st.code(f"{COMMAND} check {offered[0]}", language=None)
        st.caption("It names the mistake, where it knows it. All exercises are in `docs/exercises`.")


def title(file: str) -> str:
    """Return the first line of a stub: its number, and what it is about."""
    return stub(file).partition("\n")[0].strip('"')
