"""What the tests of the Anatomy page share."""

from pathlib import Path

import pytest

from headlight.checkpoints import load_translator
from tests.small import TEXTS, small_checkpoint, small_t5_checkpoint
from transformer import Translator, checkpoint


@pytest.fixture
def small(shelves: Path) -> Translator:
    """The first of two; the other is a T5."""
    for name, saved in (("a-small", small_checkpoint()), ("t5", small_t5_checkpoint())):
        saved.card["examples"] = TEXTS
        checkpoint.save(saved, shelves / "checkpoints" / name)
    return load_translator(shelves / "checkpoints" / "a-small")
