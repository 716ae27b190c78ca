"""Empty folders for models and runs, and a cache that lets pages start in a tenth of the time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner

from headlight import checkpoints
from tests.small import small_checkpoint
from tests.ui.pages import use_folders


@pytest.fixture(scope="session", autouse=True)
def packages_searched_once() -> Iterator[None]:
    """Streamlit looks for components in every installed package when a server starts, and each `AppTest.run` is one."""
    with pytest.MonkeyPatch.context() as patch:
        scan = lru_cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture
def small_model(shelves: Path) -> Path:
    """Return the folder of the small checkpoint, the only model there."""
    checkpoints.save(small_checkpoint(), shelves / "checkpoints" / "small")
    return shelves / "checkpoints" / "small"


@pytest.fixture
def shelves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders checkpoints, models and runs, all empty, from which the pages take what they show."""
    use_folders(tmp_path, monkeypatch)
    return tmp_path
