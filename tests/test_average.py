"""The mean of two checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from headlight import checkpoints
from tests.small import small_checkpoint
from tools import average


def test_the_mean_of_two_checkpoints_is_halfway_between_their_weights(tmp_path: Path) -> None:
    earlier, later = small_checkpoint(), small_checkpoint()
    with torch.no_grad():
        for parameter in later.model.parameters():
            parameter.add_(torch.randn_like(parameter))
    checkpoints.save(earlier, tmp_path / "earlier")
    checkpoints.save(later, tmp_path / "later")
    assert average.main([str(tmp_path / "earlier"), str(tmp_path / "later"), "--out", str(tmp_path / "mean")]) == 0
    mean = checkpoints.load(tmp_path / "mean")
    weights = zip(mean.model.parameters(), earlier.model.parameters(), later.model.parameters(), strict=True)
    for between, one, other in weights:
        assert torch.allclose(between, (one + other) / 2, atol=2e-3)  # it is saved in 16 bits


def test_checkpoints_with_other_vocabularies_have_no_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "other"):
        checkpoints.save(small_checkpoint(), tmp_path / name)
    tokenizer = next((tmp_path / "other").glob("*tokenizer.json"))
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", encoding="utf-8")
    assert average.main([str(tmp_path / "one"), str(tmp_path / "other"), "--out", str(tmp_path / "mean")]) == 1
    assert "different vocabularies" in capsys.readouterr().err
    assert not (tmp_path / "mean").exists()
