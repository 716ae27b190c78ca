"""The card of a model, and the latest scores of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headlight.runs import RunFolder
from headlight.runs.metrics import latest_evaluation
from transformer.files import read_json
from ui.state.cache import cached
from ui.state.public import card_without_places


@cached(200, seconds=3600, turn=False)
def latest_scores(folder: str, size: int) -> dict[str, Any]:
    """The scores of the latest evaluation of a run whose metrics have that size, which only keys the cache."""
    return latest_evaluation(RunFolder(folder))


def card(folder: Path) -> dict[str, Any]:
    """A model's card as visitors may read it, or nothing where it has none that can be read."""
    try:
        values = read_json(folder / "card.json")
    except ValueError:
        return {}
    return card_without_places(values) if isinstance(values, dict) else {}
