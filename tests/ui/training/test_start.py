"""The form that starts a run, and the box that draws one out: what is typed and clicked at once, before a redraw."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight.runs import Recipe
from tests.ui.pages import page_at
from ui.state import models
from ui.training import start, steering, watch
from ui.training.series import Columns


def opened(more: bool = False, **query: str) -> AppTest:
    page = page_at("training", **query)
    page.session_state["more"] = more
    page.run()
    assert not page.exception
    return page


def box(page: AppTest, label: str) -> Any:
    return next(box for box in [*page.text_input, *page.number_input] if box.label == label)


def click(page: AppTest, key: str) -> None:
    next(button for button in page.button if button.key == key).click().run()


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Recipe, Path]]:
    monkeypatch.setattr(models, "RUNS", tmp_path)
    begun: list[tuple[Recipe, Path]] = []
    monkeypatch.setattr(start, "start", lambda *run: begun.append(run))
    return begun


@pytest.mark.slow
def test_what_was_typed_last_comes_with_the_click(started: list[tuple[Recipe, Path]], tmp_path: Path) -> None:
    page = opened(new="1")
    box(page, "Name").input("letters")
    box(page, "Steps").input("20")
    click(page, "start-training")
    ((recipe, folder),) = started
    assert (recipe.training.steps, folder) == (20, tmp_path / "letters")


def test_what_was_typed_last_may_be_wrong(started: list[tuple[Recipe, Path]]) -> None:
    page = opened(new="1")
    box(page, "Steps").input("-5")
    click(page, "start-training")
    assert not started
    assert any("it must be a whole number from 1" in warning.value for warning in page.warning)


def test_the_steps_typed_last_are_those_of_the_longer_run(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Path, int]] = []
    monkeypatch.setattr(steering, "extend", lambda folder, steps: drawn.append((Path(folder), steps)))
    page = opened(more=True, run="first")
    box(page, "Continue up to step").set_value(700)
    click(page, "continue")
    assert drawn == [(runs / "first", 700)]


@pytest.mark.parametrize("bleu", [0.0, 44.6])
def test_bleu_is_explained_where_the_curves_have_it(
    runs: Path, monkeypatch: pytest.MonkeyPatch, bleu: float
) -> None:
    read = watch.series
    monkeypatch.setattr(watch, "series", lambda folder: _Scored(read(folder).read(), bleu))
    labels = [expander.label for expander in opened(run="first").expander]
    assert ("How BLEU counts" in labels) == (bleu > 0)


class _Scored:
    """The series of a run whose evaluations all have this score."""

    def __init__(self, columns: Columns, bleu: float) -> None:
        self.columns = replace(columns, evaluations=[{**one, "bleu": bleu} for one in columns.evaluations])

    def read(self) -> Columns:
        return self.columns
