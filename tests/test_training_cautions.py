"""Warnings about settings that are valid but probably unintended, and the number of threads of a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from headlight.cli import runs as commands
from headlight.corpora.corpora import open_parts
from headlight.corpora.pairs import Pair, Pairs
from headlight.corpora.preview import preview
from headlight.machine import cores, threads
from headlight.runs import RunFolder, steer, work
from headlight.runs.cautions import cautions, shared
from headlight.runs.preparing import count_duplicates, is_scored_on_training
from headlight.runs.recipe import Recipe
from headlight.runs.run_status import status
from tests.small_run import NUMBERS, new_run, small_recipe, wait_until
from transformer.config import ConfigError, TrainConfig

USUAL: dict[str, Any] = {"steps": 1000, "warmup": 100, "batch_tokens": 2048, "learning_rate": 0.002}


def cautioned(folder: Path, **changes: Any) -> str:
    return " ".join(cautions(small_recipe(folder, **{**USUAL, **changes})))


def test_usual_settings_need_no_caution(tmp_path: Path) -> None:
    assert cautioned(tmp_path) == ""
    assert cautions(replace(small_recipe(tmp_path), training=TrainConfig())) == []


@pytest.mark.parametrize(
    ("changes", "caution"),
    [
        ({"steps": 200, "warmup": 400}, "and the run has 200: the learning rate only rises, to 50\u00a0%"),
        ({"learning_rate": 1e9}, "A learning rate of 1e+09 will probably"),
        ({"batch_tokens": 1}, "A step sees 1 token,"),
        ({"batch_tokens": 100, "accumulate": 2}, "A step sees 200 tokens,"),
    ],
)
def test_each_is_said(tmp_path: Path, changes: dict[str, Any], caution: str) -> None:
    assert caution in cautioned(tmp_path, **changes)


def test_few_held_out_pairs_are_said_before_they_are_scored_on(tmp_path: Path) -> None:
    recipe = small_recipe(tmp_path, **USUAL)
    previewed = preview(open_parts(recipe.data)[0], "words", 100)
    assert previewed.report.accepted == 100
    assert "1 pair is held out to validate on" in " ".join(cautions(recipe, previewed))
    assert cautions(replace(recipe, validation=recipe.data), previewed) == []


def test_that_nothing_is_held_out_of_few_pairs_is_said(tmp_path: Path) -> None:
    recipe = replace(small_recipe(tmp_path, **USUAL), data="toy")
    found = preview(open_parts("toy")[0], "words", 100)
    (said,) = cautions(recipe, found)
    assert "fewer than 50 pairs" in said and "The scores are on the pairs that are trained on" in said
    assert cautions(replace(recipe, validation="copy"), found) == []


def test_a_vocabulary_that_lacks_most_words_is_said(tmp_path: Path) -> None:
    recipe = small_recipe(tmp_path, **USUAL)
    texts = [(f"a{n} b{n} c{n}", f"x{n} y{n}") for n in range(60)]  # no word is seen twice
    found = preview(Pairs("rare", [Pair(line, *pair) for line, pair in enumerate(texts)]), "words", 100)
    assert "The vocabulary has 0\u00a0% of the source tokens of new sentences" in " ".join(cautions(recipe, found))


def test_no_more_threads_than_cores(tmp_path: Path) -> None:
    recipe = replace(small_recipe(tmp_path, **USUAL), threads=999)
    assert threads(999) == threads(None) == cores() and threads(1) == 1
    assert steer.environment(recipe)["OMP_NUM_THREADS"] == str(cores())
    assert f"999 threads are asked for; this machine has {cores()}" in " ".join(cautions(recipe))


def test_a_worker_that_has_ended_is_no_zombie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tmp_path)
    monkeypatch.setattr(steer.sys, "executable", "true")
    number = steer.spawn(run)
    wait_until(lambda: not psutil.pid_exists(number), seconds=20)


def test_a_second_run_on_the_same_cores_is_cautioned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.runs.cautions.cores", lambda: 4)
    monkeypatch.setattr("headlight.runs.cautions.threads", lambda asked: asked or 4)
    recipe = replace(small_recipe(tmp_path), threads=3)
    other = status(new_run(tmp_path, "other", recipe).path)
    assert shared(recipe.threads, []) == []
    assert shared(1, [other]) == []
    assert "other is training on the same 4 cores" in shared(recipe.threads, [other])[0]
    assert "2 runs are training" in shared(recipe.threads, [other, other])[0]
    # On the command line too, about the runs beside it but not itself.
    monkeypatch.setattr("headlight.cli.runs.statuses", lambda root: [replace(other, state="running")])
    assert commands._shared(other.folder, recipe) == []
    assert "other is training" in commands._shared(other.folder.parent / "new", recipe)[0]


def test_a_corpus_is_not_validated_on_itself(tmp_path: Path) -> None:
    """A corpus without its own validation split is refused before a worker has read it."""
    recipe = small_recipe(tmp_path)
    with pytest.raises(ConfigError, match="validation is the training data, so"):
        replace(recipe, validation=recipe.data).check()
    replace(recipe, data="reverse", validation="reverse").check()


# ---- pairs that are trained and validated on -----------------------------------------------------------------------


def run_with_validation(folder: Path, lines: list[str]) -> RunFolder:
    (folder / "valid.tsv").write_text("".join(lines))
    recipe: Recipe = replace(small_recipe(folder, steps=1), validation=str(folder / "valid.tsv"))
    return new_run(folder, recipe=recipe)


def test_validation_pairs_that_are_trained_on_are_left_out_and_said(tmp_path: Path) -> None:
    known = [f"{a} {b}\t{b} {a}\n" for a in NUMBERS[:2] for b in NUMBERS]
    new = [f"{a} {b} one\tone {b} {a}\n" for a in NUMBERS[:1] for b in NUMBERS]
    run = run_with_validation(tmp_path, known + new)
    assert work(run.path) == "finished"
    assert count_duplicates(run) == 20
    assert "20 of the 30 validation pairs are also in the training data" in run.log.read_text()
    assert "of 10 sentences" in run.log.read_text()
    assert '"sentences": 10' in run.metrics.read_text()
    assert not is_scored_on_training(run)


def test_a_validation_that_is_all_trained_on_is_refused(tmp_path: Path) -> None:
    run = run_with_validation(tmp_path, ["one two\ttwo one\n", "two one\tone two\n"])
    assert work(run.path) == "crashed"
    assert "Every pair of" in status(run.path).cause and "also in the training data" in status(run.path).cause
