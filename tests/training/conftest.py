"""A run that finished, and copies of the same one paused in its middle."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headlight.runs import RunFolder
from tests.damage import finished_and_paused


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where "quiet" and "paused" are; no test changes them."""
    folder = tmp_path_factory.mktemp("damage")
    finished_and_paused(folder)
    return folder


@pytest.fixture
def quiet(folder: Path) -> RunFolder:
    return RunFolder(folder / "quiet")


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> RunFolder:
    """A copy of the paused run."""
    shutil.copytree(folder / "paused", tmp_path / "run", symlinks=True)
    return RunFolder(tmp_path / "run")
