"""Measurements of speed run one at a time in the background; of those of a session that wait, only the latest runs."""

from __future__ import annotations

import time
from dataclasses import replace
from queue import Queue

import pytest
import streamlit as st

from headlight.runs import Recipe
from headlight.runs.estimate import Speed
from ui.state.jobs import Cancelled, Job, Jobs
from ui.training import forecast
from ui.training.draft import defaults, drafted
from ui.training.forecast import speed_job


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Recipe:
    made = drafted("reverse", defaults("reverse", "mini"), ()).recipe
    assert made is not None
    monkeypatch.setattr(forecast, "SPEEDS", Jobs())
    monkeypatch.setattr(st, "session_state", {})
    return made


def finished(job: Job[Speed] | None) -> Job[Speed]:
    assert job is not None
    until = time.monotonic() + 20
    while not job.done and time.monotonic() < until:
        time.sleep(0.01)
    assert job.done
    return job


def test_one_at_a_time_and_the_latest_next(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, allowed = Queue[int](), Queue[float]()

    def measure(recipe: Recipe, source: int, target: int) -> Speed:
        begun.put(source)
        return Speed(allowed.get(timeout=20), 0)

    monkeypatch.setattr(forecast, "measure", measure)
    first = speed_job(recipe, 1, 9, begin=True)
    assert first is not None and begun.get(timeout=20) == 1
    dropped, wanted = speed_job(recipe, 2, 9, begin=True), speed_job(recipe, 3, 9, begin=True)
    assert isinstance(finished(dropped).error, Cancelled) and begun.empty()
    allowed.put(10.0)
    assert finished(first).result == Speed(10.0, 0)
    assert begun.get(timeout=20) == 3
    allowed.put(30.0)
    assert finished(wanted).result == Speed(30.0, 0)
    assert speed_job(recipe, 2, 9, begin=False) is None
    assert speed_job(recipe, 3, 9, begin=False) is wanted
    assert speed_job(recipe, 1, 9, begin=False) is first  # what had begun when another was asked for is not lost


def test_what_the_speed_does_not_depend_on_is_not_measured_again(
    recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "measure", lambda *question: Speed(1.0, 0))
    first = speed_job(recipe, 5, 5, begin=True)
    longer = replace(recipe, training=replace(recipe.training, steps=9, learning_rate=0.5), watch=("a",))
    assert speed_job(longer, 5, 5, begin=True) is first
    wider = replace(recipe, training=replace(recipe.training, batch_tokens=64))
    assert speed_job(wider, 5, 5, begin=False) is None


def test_a_network_that_cannot_be_trained_says_why(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*question: object) -> Speed:
        raise ValueError("This network cannot make two steps.")

    monkeypatch.setattr(forecast, "measure", measure)
    assert "cannot make two steps" in str(finished(speed_job(recipe, 5, 5, begin=True)).error)
