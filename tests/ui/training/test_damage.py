"""The pages of a run whose files are damaged: they show what there is, and say what there is not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from headlight.runs import RunFolder, status, work
from tests.damage import cut, empty, huge, missing, noise, wrong_types
from tests.ui.training.test_start import opened
from ui.checkpoints.listing import entries
from ui.state import models
from ui.training import film
from ui.training.steering import acts

pytestmark = pytest.mark.slow  # dozens of damaged runs


@pytest.fixture
def run(finished: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A copy of the finished run, in a folder of its own that the pages look into."""
    monkeypatch.setattr(models, "RUNS", tmp_path)
    shutil.copytree(finished.path, tmp_path / "first", symlinks=True)
    return RunFolder(tmp_path / "first")


def page_text(page: AppTest) -> str:
    return "\n".join(one.value for one in [*page.warning, *page.info, *page.markdown, *page.caption])


def dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("step-0000099")


STEP = "checkpoints/step-0000060"
# Each file in the ways that its reader on the page has code for; tests/training has the others.
DAMAGES: dict[str, tuple[Callable[[Path], None], ...]] = {
    "status.json": (missing, noise, wrong_types, huge),
    "config.json": (missing, noise, wrong_types, huge),
    f"{STEP}/model.safetensors": (missing, noise, huge),
    f"{STEP}/tokenizer.json": (missing, huge),
    f"{STEP}/config.json": (missing, wrong_types),
    f"{STEP}/training.json": (missing, wrong_types),
    "history/step-0000060.safetensors": (noise, huge),
    "metrics.jsonl": (missing, empty, cut, noise),
    "checkpoints/best": (dangling,),
}


@pytest.mark.parametrize(("name", "damage"), [(name, way) for name, ways in DAMAGES.items() for way in ways])
def test_the_pages_show_a_damaged_run(run: RunFolder, name: str, damage: Callable[[Path], None]) -> None:
    damage(run.path / name)
    page = opened(run="first")
    assert not page.error, [one.value for one in page.error]
    assert "first" in [one.value for one in page.subheader]
    if name.startswith("checkpoints") and damage is not wrong_types and damage is not huge:
        assert "is damaged" in page_text(page).replace("\\", "")
    for listed in entries():
        if listed.name == "runs/first" and not listed.broken:
            with suppress(ValueError):  # weights of the right size that are nonsense are refused when they are read
                models.translator("runs/first").translate("one two")


def test_a_finished_run_that_is_damaged_can_be_resumed_from_its_page(run: RunFolder) -> None:
    assert acts(status(run.path)) == []
    cut(run.checkpoints / "last" / "model.safetensors")
    assert [act.label for act in acts(status(run.path))] == ["Resume"]
    assert work(run.path) == "finished"
    page = opened(run="first")
    assert "step-0000060 is damaged, and kept as step-0000060.damaged" in page_text(page).replace("\\", "")
    assert acts(status(run.path)) == []


def test_a_damaged_snapshot_is_left_out_and_counted(run: RunFolder) -> None:
    whole = len(list(run.history.iterdir()))
    cut(run.history / "step-0000060.safetensors")
    history = film.history("first", run.checkpoints / "best", run.history, run.config)
    frames = history.frames("one two")
    assert len(frames) == whole - 1 and history.damaged == 1
    assert b"1 snapshot is damaged and not shown" in film.payload(history, frames, ("cross", 1, 1), None)
