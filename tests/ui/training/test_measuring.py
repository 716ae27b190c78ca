"""Measurements in the background run one at a time; of those that wait, only the latest runs."""

from __future__ import annotations

from dataclasses import replace
from queue import Queue

import pytest

from headlight.runs import Recipe
from headlight.runs.estimate import Speed
from ui.training import measuring
from ui.training.draft import defaults, drafted
from ui.training.measuring import Measurements


@pytest.fixture
def recipe() -> Recipe:
    made = drafted("reverse", defaults("reverse", "mini"), ()).recipe
    assert made is not None
    return made


def test_one_at_a_time_and_the_latest_next(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, allowed = Queue[int](), Queue[float]()

    def measure(recipe: Recipe, source: int, target: int) -> Speed:
        begun.put(source)
        return Speed(allowed.get(timeout=20), 0)

    monkeypatch.setattr(measuring, "measure", measure)
    measurements = Measurements()
    first = measurements.get(recipe, 1, 9, begin=True)
    assert first is not None and begun.get(timeout=20) == 1
    dropped, wanted = measurements.get(recipe, 2, 9, begin=True), measurements.get(recipe, 3, 9, begin=True)
    assert begun.empty()
    allowed.put(10.0)
    assert first.result(timeout=20).tokens_per_second == 10.0
    assert begun.get(timeout=20) == 3
    allowed.put(30.0)
    assert wanted is not None and wanted.result(timeout=20).tokens_per_second == 30.0
    assert dropped is not None and not dropped.done()
    assert measurements.get(recipe, 2, 9, begin=False) is None
    assert measurements.get(recipe, 3, 9, begin=False) is wanted


def test_what_the_speed_does_not_depend_on_is_not_measured_again(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "measure", lambda *question: Speed(1.0, 0))
    measurements = Measurements()
    first = measurements.get(recipe, 5, 5, begin=True)
    longer = replace(recipe, training=replace(recipe.training, steps=9, learning_rate=0.5), watch=("a",))
    assert measurements.get(longer, 5, 5, begin=True) is first
    wider = replace(recipe, training=replace(recipe.training, batch_tokens=64))
    assert measurements.get(wider, 5, 5, begin=False) is None


def test_a_network_that_cannot_be_trained_says_why(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*question: object) -> Speed:
        raise ValueError("This network cannot make two steps.")

    monkeypatch.setattr(measuring, "measure", measure)
    measurement = Measurements().get(recipe, 5, 5, begin=True)
    assert measurement is not None and "cannot make two steps" in str(measurement.exception(timeout=20))
