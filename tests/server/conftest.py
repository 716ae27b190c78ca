"""Servers of these tests have the smallest model alone: each prepares the example of its first model when it starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def small_servers(reverse_only: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", reverse_only)
        yield
