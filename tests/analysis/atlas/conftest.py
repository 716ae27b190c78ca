"""A small model, and its atlas."""

from __future__ import annotations

import pytest

from headlight.analysis.atlas import Atlas
from tests.analysis.measured import measured
from tests.small import small_checkpoint
from transformer.checkpoint import Checkpoint


@pytest.fixture(scope="session")
def small() -> Checkpoint:
    return small_checkpoint()


@pytest.fixture(scope="session")
def measured_atlas(small: Checkpoint) -> Atlas:
    return measured(small, sample=6)
