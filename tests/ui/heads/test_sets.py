"""Heads in sets on the Heads page: what is shown of the curve, and the smaller model that is taken away."""

from __future__ import annotations

import json
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from headlight.analysis.pruning import Pruning
from headlight.charts.spread import beside_spread
from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import page_at, texts, use_folders
from transformer import Translator
from transformer.pruned import prune_heads
from transformer.taps import Ablate, chain
from ui.heads import sets
from ui.heads.corpus import ChosenCorpus
from ui.heads.measurements import MeasurementRequest, find_sets, measure_sets, of_sets
from ui.heads.view import HeadsView
from ui.state import atlases, models
from ui.state.atlases import EXAMPLES


@pytest.fixture
def model(shelves: Path) -> Translator:
    return save_model(shelves)


def save_model(shelves: Path) -> Translator:
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = [*TEXTS[:2], "a dog is running .", "two girls .", "a bench in the snow ."]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    return load_translator(shelves / "checkpoints" / "small")


@dataclass
class Found:
    """A measurement, as it was made, of the model in these folders."""

    model: Translator
    folders: Path
    request: MeasurementRequest
    sets: Pruning
    shares: list[float]


@pytest.fixture(scope="module")
def found_once(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folders, shares = tmp_path_factory.mktemp("sets"), list[float]()
    with pytest.MonkeyPatch.context() as patch:
        use_folders(folders, patch)
        own = save_model(folders)
        request = MeasurementRequest("small", models.version("small"), ChosenCorpus(EXAMPLES), 200)
        assert find_sets(request) is None
        return Found(own, folders, request, measure_sets(request, lambda share, doing: shares.append(share)), shares)


@pytest.fixture
def found(found_once: Found, monkeypatch: pytest.MonkeyPatch) -> Found:
    use_folders(found_once.folders, monkeypatch)
    return found_once


def settled(app: AppTest) -> AppTest:
    """After its measurements."""
    for _ in range(200):
        app.run()
        assert not app.exception and not app.error, (app.exception, app.error)
        if app.select_slider:
            return app
        time.sleep(0.1)
    raise AssertionError("it was not measured")


@pytest.mark.slow
def test_the_page_measures_when_asked_and_says_what_is_left(model: Translator) -> None:
    app = page_at("heads", corpus=EXAMPLES)
    for _ in range(100):
        app.run()
        if any(button.label == "Which heads can go?" for button in app.button):
            break
        time.sleep(0.1)
    assert not app.select_slider, "nobody asked"
    next(button for button in app.button if button.label == "Which heads can go?").click()
    settled(app)
    assert app.query_params["sets"] == "1"
    stored = find_sets(of_sets(MeasurementRequest("small", models.version("small"), ChosenCorpus(EXAMPLES), 200)))
    assert stored is not None, "what was measured is kept"
    (slider,) = app.select_slider
    assert slider.options == [str(gone) for gone in stored.gone]
    slider.set_value(8)
    app.run()
    assert app.query_params["gone"] == "8"
    own = stored.in_order[stored.gone.index(8)]
    assert f"Without 8 of 20 heads: {sets._scores(own)}" in texts(app)
    less = stored.saved[stored.gone.index(8)]
    assert f"{less.parameters:,} of {less.parameters_before:,} parameters" in texts(app)
    assert "from 3 sentences and is measured again every 2 heads; the scores from 2 others" in texts(app)


def test_the_smaller_model_opens_as_an_import_and_equals_the_ablated_one(found: Found, tmp_path: Path) -> None:
    model, order = found.model, found.sets
    (tmp_path / "small.zip").write_bytes(sets._zip(model, order, 8, {"heads": 8}))
    import_model(tmp_path / "small.zip", tmp_path / "opened")
    opened = checkpoints.load(tmp_path / "opened")
    assert len(opened.model.config.pruned_heads) == 8 and opened.card["title"] == "Small, 8 of 20 heads pruned"
    src, tgt = torch.tensor([model.encode(TEXTS[0])]), torch.tensor([model.encode_target(TEXTS[1])])
    off = chain(*(Ablate(site, head) for site, head in order.first(8)))
    with torch.no_grad():
        double = deepcopy(model.model).double()  # which others use
        actual, expected = opened.model.double()(src, tgt), double(src, tgt, off)
    assert (actual - expected).abs().max() < 1e-6
    assert torch.equal(actual, prune_heads(double, order.first(8))(src, tgt))


def test_what_was_measured_is_found_again_and_what_is_of_another_version_is_not(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert found.shares == sorted(found.shares) and found.shares[0] >= 0 and found.shares[-1] <= 1
    assert find_sets(found.request) == found.sets
    monkeypatch.setattr(atlases, "find", lambda *request: {"sets": {"order": []}})
    assert find_sets(found.request) is None


def test_the_page_begins_where_little_is_lost() -> None:
    def curve(*log_probs: float) -> Pruning:
        points = [{"log_prob": value, "bleu": 0.0, "exact": 0.0} for value in log_probs]
        return Pruning.from_dict(
            {"order": [], "every": 1, "gone": list(range(len(points))), "in_order": points, "at_random": [],
             "measured": 1, "scored": 1, "saved": []}
        )  # fmt: skip

    assert sets._point(curve(-1.0, -1.05, -1.2, -1.0), HeadsView()) == 1
    assert sets._point(curve(-1.0, -0.9, -1.0), HeadsView()) == 2
    assert sets._point(curve(-1.0, -2.0), HeadsView()) == 0
    assert sets._point(curve(-1.0, -2.0), HeadsView(gone=1)) == 1
    assert sets._point(curve(-1.0, -2.0), HeadsView(gone=7)) == 0


def test_the_chart_has_every_number_and_says_it() -> None:
    draws = np.array([[0.0, -2.0, -4.0], [0.0, -1.0, -4.0]])
    figure = beside_spread([0, 3, 6], ("own", [0, -0.5, -4]), ("2 random orders", draws), "Height", "gone", at=3)
    by_name: dict[str, list[Any]] = {}
    for trace in figure.data:
        by_name.setdefault(trace.name or "", []).append([float(y) for y in trace.y])
    assert by_name["own"] == [[0, -0.5, -4]]
    assert by_name["2 random orders"] == [[0, -1, -4], *draws.tolist()], "the band's upper edge, then each draw"
    assert by_name[""] == [[0, -2, -4]]
    assert figure.layout.meta == (
        "Height, along gone: own from 0 to -4, at 3 -0.5; 2 random orders at 3 from -2 to -1."
    )
    assert figure.layout.shapes[0].x0 == 3
    assert json.loads(figure.to_json())
    alone = beside_spread([0, 3, 6], ("own", [0, -0.5, -4]), ("", np.zeros((0, 3))), "Height", "gone", theme="dark")
    assert len(alone.data) == 1
