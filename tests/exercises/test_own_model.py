"""A student's own Transformer, trained by docs/exercises/reverse.py, is computed by Headlight to the same numbers."""

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.checkpoints import load_translator
from headlight.importers.importing import import_model
from headlight.importers.questions import Answers
from headlight.teaching.exercises import EXERCISES, FOLDER
from tests.exercises import solutions


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the names that reverse.py defines when the solutions are the student's files."""
    for exercise in EXERCISES.values():
        monkeypatch.setitem(sys.modules, exercise.file.removesuffix(".py"), solutions)
    return runpy.run_path(str(FOLDER / "reverse.py"))


def test_an_imported_model_computes_what_the_students_own_does(
    script: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    model = script["build"]()
    before = model.output.weight.clone()
    script["learn"](model, minutes=1e-3, steps=2, size=4)
    assert "step 2: loss " in capsys.readouterr().out and not torch.equal(before, model.output.weight)
    script["save"](model, tmp_path / "reverse")

    letters = tmp_path / "reverse" / "tokenizer.json"
    answers = Answers(heads=4, pad_id=0, sos_id=2, eos_id=3, source_vocab=letters, target_vocab=letters)
    examination = import_model(tmp_path / "reverse", tmp_path / "mine", answers)
    assert examination.form == "Exercises"
    translator = load_translator(tmp_path / "mine")

    source = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
    target = torch.tensor([[2, 7, 6, 5, 4, 3], [2, 9, 8, 3, 0, 0]])
    with torch.no_grad():
        expected = model(source, target).log_softmax(-1)
    torch.testing.assert_close(translator.log_probs(source, target), expected, rtol=0, atol=1e-5)
    word = translator.encode("headlight")[:-1]  # without its end
    assert [script["TOKENS"][id] for id in word] == list("headlight")
    assert len(script["reversed_by"](model, word)) <= len(word) + 3
