"""The model "odd": two encoder layers of 4 heads and three decoder layers of 2; its tokens are hostile."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight.checkpoints import load_translator
from tests.browser.odd import SENTENCE
from transformer import Trace, Translator


@pytest.fixture(scope="session")
def odd(small_models: Path) -> Translator:
    return load_translator(small_models / "odd")


@pytest.fixture
def odd_url(small_url: str) -> str:
    return small_url


@pytest.fixture
def odd_trace(odd: Translator) -> Trace:
    return odd.trace(SENTENCE)
