"""The card of a model, and the latest scores of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from transformer.files import open_regular, read_json
from transformer.training import RunFolder
from transformer.training.metrics import sound_line
from ui.state.public import card_without_places

TAIL = 1_000_000  # bytes at the end of the metrics in which the latest scores are looked for


@st.cache_data(max_entries=200, show_spinner=False)
def latest_scores(folder: str, size: int) -> dict[str, Any]:
    """The scores of the latest evaluation of a run whose metrics have that size; nothing where there are none."""
    try:
        with open_regular(RunFolder(folder).metrics) as file:
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).splitlines()
    except (OSError, ValueError):
        return {}
    for line in reversed(lines):
        if b'"evaluation"' in line and (found := sound_line(line)) is not None:
            return dict(found["evaluation"])
    return {}


def card(folder: Path) -> dict[str, Any]:
    """A model's card as visitors may read it, or nothing where it has none that can be read."""
    try:
        values = read_json(folder / "card.json")
    except ValueError:
        return {}
    return card_without_places(values) if isinstance(values, dict) else {}
