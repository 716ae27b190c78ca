"""What stands behind the Heads page: its address, the corpora that it offers, and measurements under way."""

from __future__ import annotations

import time
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from ui.checkpoints.jobs import Progress
from ui.heads.corpus import EXAMPLES, FILE, UPLOAD, Chosen, choices, suited
from ui.heads.jobs import KEPT, Asked, Jobs
from ui.heads.view import HeadsView


def model(**card: object) -> Any:
    return SimpleNamespace(card=card)


def asked(number: int) -> Asked:
    return Asked("reverse", (1,), Chosen("reverse"), number)


def test_an_address_says_everything_and_nothing_that_makes_no_sense() -> None:
    view = HeadsView(
        model="reverse", corpus="copy", pairs=200, measure="next", step=40, only="alignment", layer=2, head=1
    )
    assert HeadsView.from_query(view.to_query()) == view
    query = {"pairs": "17", "measure": "beauty", "step": "-3", "only": "none", "kind": "other"}
    assert HeadsView.from_query(query) == HeadsView()


def test_a_model_is_measured_on_what_it_was_trained_on_or_what_it_speaks() -> None:
    def first(**card: object) -> str:
        return suited(model(**card), choices(model(**card)))

    assert first(command="python -m transformer train --data copy --out runs/x") == "copy"
    assert first(command="python -m transformer train --data /home/me/x.tsv", source="English", target="French") == (
        "english-french"
    )
    assert first(source="German", target="Danish", examples=["Hallo."]) == EXAMPLES
    assert first() in choices(model())


def test_nobody_brings_a_corpus_to_a_public_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {UPLOAD, FILE} <= choices(model()).keys()
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    assert not {UPLOAD, FILE} & choices(model()).keys()


def test_a_measurement_is_made_once_and_only_the_latest_are_kept() -> None:
    jobs, made = Jobs(), []

    def do(progress: Progress) -> int:
        made.append(1)
        return len(made)

    first = jobs.get("heads", asked(0), do)
    assert jobs.get("heads", asked(0), do) is first
    for number in range(1, KEPT + 1):
        last = jobs.get("heads", asked(number), do)
    deadline = time.monotonic() + 20
    while not last.done and time.monotonic() < deadline:
        time.sleep(0.01)
    assert last.done and jobs.get("heads", asked(0), do) is not first


def test_what_nobody_can_ask_for_any_more_ends() -> None:
    jobs, begun = Jobs(), Event()

    def long(progress: Progress) -> None:
        while True:
            begun.set()
            time.sleep(0.005)
            progress(0.5, "measuring")

    job = jobs.get("heads", asked(0), long)
    assert begun.wait(20)
    for number in range(1, KEPT + 1):
        jobs.get("heads", asked(number), lambda progress: None)
    deadline = time.monotonic() + 20
    while not job.done and time.monotonic() < deadline:
        time.sleep(0.01)
    assert job.done and job.result is None
