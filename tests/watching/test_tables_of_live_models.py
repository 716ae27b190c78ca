"""The command `watch`: a model that transformers saved, opened by its folder, as a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

import headlight
from headlight.cli.tables import digest_of_tensors, load_pretrained
from headlight.cli.verbs import main
from tests.watching.live import live_model, word_tokenizer

SENTENCES = ["a girl", "two dogs are running", "a"]


@pytest.mark.parametrize("family", ["t5", "gpt2", "bert"])
def test_a_saved_model_is_a_table(family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, tokenizer = live_model(family), word_tokenizer()
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    opened, _ = load_pretrained(str(tmp_path / "model"))
    assert type(opened) is type(model) and digest_of_tensors(opened) == digest_of_tensors(model)

    limited = family != "t5"  # whose positions are distances
    (tmp_path / "three.txt").write_text("\n".join([*SENTENCES, *["two " * 999] * limited]))
    out = tmp_path / "heads.parquet"
    assert main(["watch", str(tmp_path / "model"), str(tmp_path / "three.txt"), "--out", str(out)]) == 0
    assert ("1 line left out:\n  line 4: " in capsys.readouterr().err) == limited
    table = pandas.read_parquet(out)
    for line, sentence in enumerate(SENTENCES, 1):
        trace = headlight.attention_of(model, tokenizer, sentence)
        for kind in trace.kinds:
            rows = table[(table.line == line) & (table.kind == kind)]
            pattern = trace.pattern(kind).astype(np.float64)
            entropy = -(pattern * np.log2(np.where(pattern > 0, pattern, 1))).sum(-1).mean(-1)
            np.testing.assert_allclose(rows.entropy, entropy.ravel(), atol=1e-4)


def test_what_is_no_model_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "one.txt").write_text("a girl\n")
    command = ["watch", str(tmp_path / "empty"), str(tmp_path / "one.txt"), "--out", str(tmp_path / "out.csv")]
    assert main(command) == 1
    assert "empty cannot be opened with transformers: " in capsys.readouterr().err
