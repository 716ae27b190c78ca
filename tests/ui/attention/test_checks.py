"""When the checks beside a picture are made, and of which model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from headlight import checkpoints
from headlight.analysis import Check
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import open_page
from transformer import Trace
from ui.attention.picture import shown_trace
from ui.attention.view import AttentionView
from ui.state import models
from ui.state.queue import Turns


@pytest.fixture
def checked(small_model: Path, monkeypatch: pytest.MonkeyPatch) -> list[Trace]:
    """The traces that were checked, the latest last."""
    traces, check = list[Trace](), models.check

    def recorded(trace: Trace, *others: Any) -> list[Check]:
        traces.append(trace)
        return check(trace, *others)

    monkeypatch.setattr(models, "check", recorded)
    return traces


def test_nobody_waits_for_the_checks_to_see_the_picture(checked: list[Trace]) -> None:
    picture = shown_trace("small", TEXTS[0], AttentionView())
    assert checked == []
    assert all(check.holds for check in picture.checks)
    assert checked == [picture.trace]


def test_while_others_wait_the_checks_come_in_the_turn_of_the_picture(
    checked: list[Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the checks would have to queue a second time."""
    monkeypatch.setattr(Turns, "busy", True)
    picture = shown_trace("small", TEXTS[1], AttentionView())
    assert checked == [picture.trace]
    assert picture.checks and len(checked) == 1


def test_what_was_read_before_is_shown_at_once_however_many_wait(
    checked: list[Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that opens the app together gets the same example, which was ready; each was in line for its checks."""
    before = shown_trace("small", TEXTS[1], AttentionView())
    monkeypatch.setattr(Turns, "busy", True)
    assert shown_trace("small", TEXTS[1], AttentionView()).trace is before.trace
    assert checked == []


def test_where_the_checks_fail_the_page_says_so_beside_the_picture(
    checked: list[Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit drew the error itself, and what comes after them was missing."""

    def fails(*_: Any) -> list[Check]:
        raise ValueError("The model is gone.")

    monkeypatch.setattr(models, "check", fails)
    page = open_page("attention", text=TEXTS[0])
    assert [info.value for info in page.info] == ["The model is gone."]
    assert any("changed" in caption.value for caption in page.caption)  # of the switches, the last on the page


def test_the_checks_are_of_the_model_that_gave_the_picture(checked: list[Trace], shelves: Path) -> None:
    """A model in training has other weights by the time its checks run."""
    picture = shown_trace("small", TEXTS[0], AttentionView())
    other = small_checkpoint()
    with torch.no_grad():
        for parameter in other.model.parameters():
            parameter.mul_(1.5)
    checkpoints.save(other, shelves / "checkpoints" / "small")
    assert shown_trace("small", TEXTS[0], AttentionView()).trace is not picture.trace
    assert all(check.holds for check in picture.checks)
    assert checked == [picture.trace]
