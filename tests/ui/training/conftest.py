"""One tiny run that has finished, with snapshots, shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headlight.runs import RunFolder
from tests.small_run import finished_run, small_recipe
from ui.state import models


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("runs")
    return finished_run(folder, "first", small_recipe(folder, snapshots=5))


@pytest.fixture
def runs(finished: RunFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The page looks for its runs where that one is."""
    monkeypatch.setattr(models, "RUNS", finished.path.parent)
    yield finished.path.parent
