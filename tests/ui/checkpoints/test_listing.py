"""The shelf lists every folder: what it holds, or in a sentence why it cannot be opened."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.ui.checkpoints.conftest import HOSTILE
from transformer import load
from transformer.files import write_json
from transformer.model import count_parameters
from ui.checkpoints.listing import day, entries, origin, score_texts
from ui.checkpoints.view import CheckpointsView
from ui.state import models


def test_models_are_listed_with_what_they_are(shelf: Path) -> None:
    listed = {entry.name: entry for entry in entries()}
    small = listed["small"]
    assert small.parameters == count_parameters(load(shelf / "checkpoints" / "small").model)
    assert small.size == sum(file.stat().st_size for file in small.folder.iterdir())
    assert (small.languages, small.origin, small.broken) == ("Words → Words", "Trained here", None)
    assert (small.score, small.score_detail) == ("41.7", "BLEU 41.7 on the test set")
    assert listed[f"models/{HOSTILE}"].origin == "Tutorial “X”"
    assert ".hidden" not in listed and "file" not in listed


def test_broken_folders_say_why(shelf: Path) -> None:
    reasons = {entry.name: entry.broken for entry in entries() if entry.broken}
    assert set(reasons) == {"empty", "models/cut", "models/deep", "models/torn"}
    assert reasons["empty"] == "config.json is missing."
    assert "model.safetensors is not a complete safetensors file" in reasons["models/cut"]
    assert "encoder.n_layers is 1000000000" in reasons["models/deep"]
    assert not any(str(shelf) in reason for reason in reasons.values())


def test_a_change_is_seen(shelf: Path) -> None:
    card = shelf / "checkpoints" / "small" / "card.json"
    assert entries()[0].row()
    write_json(
        card, {"source": "A", "target": "B", "scores": {"exact": 0.98, "BLEU": 1.0}, "note": "longer than before"}
    )
    small = next(entry for entry in entries() if entry.name == "small")
    assert small.languages == "A → B" and small.score == "98.0\u00a0%"


def test_imported_models_are_models_of_every_page(shelf: Path) -> None:
    names = models.model_names()
    assert f"models/{HOSTILE}" in names and names[0] == "other"
    assert models.model_folder(f"models/{HOSTILE}") == shelf / "models" / HOSTILE
    assert models.translator(f"models/{HOSTILE}").model.config.decoder.n_layers == 4


@pytest.mark.parametrize("scores", [None, [1], {"BLEU": "x"}, {"BLEU": True}, {}])
def test_odd_scores_are_none(scores: object) -> None:
    assert score_texts({"scores": scores}) == ("", "")


def test_words() -> None:
    assert day(datetime(2019, 3, 5).timestamp()) == "5 Mar 2019"
    assert day(datetime.now().replace(month=3, day=5).timestamp()) == "5 Mar"
    assert [origin(name, {}) for name in ("a", "runs/a", "models/a")] == ["Trained here", "A run", "Imported"]


def test_the_view_takes_only_what_makes_sense() -> None:
    query = {"weight": "w" * 999, "ticked": "a,a,b,c", "beside_layer": "-3", "beside_head": "2", "importing": "yes"}
    view = CheckpointsView.from_query(query)
    assert view == CheckpointsView(weight="w" * 300, ticked=("a",), beside_head=2)
