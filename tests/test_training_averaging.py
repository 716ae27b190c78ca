"""Averaging the last checkpoints: which weights are kept, their mean, and when it is exported."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headlight import checkpoints
from headlight.corpora import generated
from headlight.runs import Evaluator, Metrics, RunFolder, export
from headlight.runs.averaging import average
from headlight.runs.steer import extend
from headlight.runs.worker import work
from transformer.checkpoint.native import load_weights

from .small_run import finished_run, launch_here, new_run, small_recipe


def steps_with_weights(run: RunFolder) -> list[int]:
    return sorted(int(path.stem[5:]) for path in run.weights.iterdir())


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run that kept its last three weights, which no test changes."""
    return finished_run(tmp_path_factory.mktemp("three"), average=3)


def test_the_weights_of_the_last_checkpoints_are_kept_and_their_mean_is_taken(three: RunFolder) -> None:
    run = three
    assert steps_with_weights(run) == [50, 56, 60]
    last = checkpoints.load(run.checkpoints / "last")
    mean = average(run, last, 3)
    assert mean.card["averaged"] == [50, 56, 60]
    each = [
        dict(load_weights(last.model.config, run.weights / f"step-{step:07d}.safetensors").named_parameters())
        for step in steps_with_weights(run)
    ]
    for name, parameter in mean.model.named_parameters():
        by_hand = sum(weights[name].double() for weights in each) / 3
        torch.testing.assert_close(parameter.double(), by_hand, rtol=1e-6, atol=1e-7)
    assert mean.model.output.weight is not last.model.output.weight
    assert average(run, last, 2).card["averaged"] == [56, 60]


def test_nothing_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=10)
    assert not run.weights.exists()
    with pytest.raises(ValueError, match="kept the weights of 0 checkpoints.*--average N"):
        average(run, checkpoints.load(run.checkpoints / "last"), 5)


def test_a_run_that_goes_on_keeps_no_weights_of_updates_that_it_lost(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=30, average=4)
    (run.weights / "step-0000099.safetensors").write_bytes(b"of an update that was lost")
    extend(run.path, 40, launch_here)
    assert work(run.path) == "finished"
    assert steps_with_weights(run) == [28, 30, 35, 40]


@pytest.mark.parametrize("better", ["best", "mean"])
def test_what_validates_better_is_exported(
    three: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, better: str
) -> None:
    run = three

    def score(self, checkpoint, *_):
        is_mean = "averaged" in checkpoint.card
        return type("Scores", (), {"chrf": 60.0 if is_mean == (better == "mean") else 50.0})()

    monkeypatch.setattr(Evaluator, "__call__", score)
    card = export(run.path, tmp_path / "shipped", score=False).card
    assert ("averaged" in card) == (better == "mean")
    assert card["validation_chrF"] == {better: 60.0, ({"best", "mean"} - {better}).pop(): 50.0}
    assert "averaged" not in export(run.path, tmp_path / "plain", score=False, average=0).card


@pytest.mark.slow
def test_a_mixture_is_validated_part_by_part_and_exported_with_a_score_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated, "SPLIT_PAIRS", generated.SPLIT_PAIRS | {"test": 30})
    recipe = replace(small_recipe(tmp_path, steps=4, evaluate_every=4), data="reverse:60 + copy:30*2", vary=0.5)
    run = new_run(tmp_path, recipe=recipe)
    assert work(run.path) == "finished"
    evaluation = Metrics(run.path).read()[-1]["evaluation"]
    assert set(evaluation["parts"]) == {"reverse (validation)", "copy (validation)"}
    assert evaluation["parts"]["reverse (validation)"].keys() == {
        "loss", "perplexity", "bleu", "chrf", "exact", "sentences",
    }
    card = export(run.path, tmp_path / "shipped", beam_size=1).card
    assert [scores["on"] for scores in (card["scores"], *card["more_scores"])] == ["reverse (test)", "copy (test)"]
    assert "--data reverse:60 " in card["scores"]["command"] and "--vary 0.5" in card["command"]


def test_an_early_run_is_exported_without_a_mean(three: RunFolder, tmp_path: Path) -> None:
    run = RunFolder(shutil.copytree(three.path, tmp_path / "run", symlinks=True))
    for path in sorted(run.weights.iterdir())[1:]:
        path.unlink()
    assert "averaged" not in export(run.path, tmp_path / "shipped", score=False).card
    with pytest.raises(ValueError, match="a mean needs two"):
        export(run.path, tmp_path / "asked", score=False, average=3)


def test_a_file_system_without_hard_links_gets_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refused)
    assert steps_with_weights(finished_run(tmp_path, steps=14, average=2)) == [7, 14]
