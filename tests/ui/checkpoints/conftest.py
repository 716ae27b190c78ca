"""Small models in the three places from which the page takes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headlight import checkpoints
from tests.small import small_checkpoint
from transformer import StackConfig

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def shelf(shelves: Path) -> Path:
    """checkpoints/small, checkpoints/other of another depth and another tokenizer, models/HOSTILE; and broken ones."""
    small = small_checkpoint()
    small.card |= {"examples": ["two dogs"], "scores": {"BLEU": 41.74, "exact": 0.05, "on": "the test set"}}
    checkpoints.save(small, shelves / "checkpoints" / "small")
    other = small_checkpoint("bpe", seed=1, encoder=StackConfig(1, 2, 16), decoder=StackConfig(4, 4, 16))
    checkpoints.save(other, shelves / "checkpoints" / "other")
    other.card = {"origin": "Tutorial “X”"}
    checkpoints.save(other, shelves / "models" / HOSTILE)
    (shelves / "checkpoints" / "empty").mkdir()
    (shelves / "checkpoints" / ".hidden").mkdir()
    (shelves / "checkpoints" / "file").touch()
    for name, file, content in (
        ("cut", "model.safetensors", b"\x10"),
        (
            "deep",
            "config.json",
            b'{"source_vocab_size": 5, "target_vocab_size": 5, "encoder": {"n_layers": 1000000000}}',
        ),
        ("torn", "config.json", b'{"a'),
    ):
        folder = shelves / "models" / name
        checkpoints.save(small, folder)
        (folder / file).write_bytes(content)
        os.utime(folder / file)
    return shelves
