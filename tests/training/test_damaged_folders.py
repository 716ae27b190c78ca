"""Damaged files beside the checkpoints of a run are rebuilt from intact ones, and the run goes on."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from headlight.runs import RunFolder, export, resume, status, work
from headlight.runs.folder import CORPUS_FILES
from tests.damage import (
    DAMAGES,
    LAST_STEP,
    PAUSED_STEP,
    Damage,
    another_kind,
    as_older_versions_wrote_it,
    assert_ends_as,
    cut,
    empty,
    look_at,
    look_into,
    missing,
    noise,
    repair_only,
    zeros,
)
from tests.small_run import launch_here, lines

pytestmark = pytest.mark.slow  # hundreds of damaged runs

OF_A_FILE = [damage for damage in DAMAGES if damage is not another_kind]  # tests/test_training_odd_folders.py has that


def torn_in_the_middle(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3] + b"\xff\x00{" + content[len(content) // 3 + 50 :])


@pytest.mark.parametrize("damage", [missing, empty, cut, noise, zeros, torn_in_the_middle])
def test_metrics_lose_the_lines_that_are_lost_and_no_others(run: RunFolder, quiet: RunFolder, damage: Damage) -> None:
    whole = len(lines(run))
    damage(run.metrics)
    left, known = run.metrics.read_bytes() if run.metrics.exists() else b"", len(lines(run))
    look_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
    undisturbed = {line["step"]: line for line in lines(quiet)}
    metrics = lines(run)
    assert len(metrics) == known + LAST_STEP - whole and all(line == undisturbed[line["step"]] for line in metrics)
    assert f"metrics.jsonl lacks {whole - known:,} of the {PAUSED_STEP:,} steps" in " ".join(status(run.path).repairs)
    if left and damage is not cut:
        assert (run.path / "metrics.jsonl.damaged").read_bytes() == left


# A version of today finds all bytes alike that are not as they were written, by their checksum. An older one could not
# know which were the tokens, and how many pairs there were.
CORPUS_CASES = [(name, damage, False) for name in CORPUS_FILES for damage in (missing, zeros)]
CORPUS_CASES += [(name, damage, True) for name in CORPUS_FILES for damage in (missing, empty, cut, noise, zeros)
                 if (name, damage) not in (("tokens.bin", zeros), ("validation.jsonl", cut))]  # fmt: skip


@pytest.mark.parametrize(("name", "damage", "older"), CORPUS_CASES)
def test_a_damaged_corpus_is_read_again(
    run: RunFolder, quiet: RunFolder, name: str, damage: Damage, older: bool
) -> None:
    if older:
        as_older_versions_wrote_it(run)
    damage(run.data / name)
    look_at(run)
    repair_only(run)
    for file in CORPUS_FILES:
        assert (run.data / file).read_bytes() == (quiet.data / file).read_bytes()
    assert (run.path / "data.damaged").is_dir()
    assert "It is read again from" in " ".join(status(run.path).repairs)
    assert "has changed" not in " ".join(status(run.path).repairs)
    repair_only(run)
    assert not status(run.path).repairs  # once is enough


def test_from_a_corpus_that_was_read_again_the_updates_are_the_same(run: RunFolder, quiet: RunFolder) -> None:
    noise(run.data / "tokens.bin")
    look_into(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)


def test_a_corpus_that_is_gone_twice_can_be_put_back(run: RunFolder, quiet: RunFolder) -> None:
    shutil.rmtree(run.data)
    source = Path(run.recipe().data)
    hidden = source.rename(source.with_name("hidden.tsv"))
    try:
        assert work(run.path) == "crashed"
        run_status = status(run.path)
        assert f"Put back {source}" in run_status.cause and run_status.saved_step == PAUSED_STEP
    finally:
        hidden.rename(source)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)


def test_a_corpus_that_has_changed_meanwhile_is_reported(run: RunFolder) -> None:
    (run.data / "tokens.bin").unlink()
    source = Path(run.recipe().data)
    before = source.read_text()
    try:
        source.write_text(before.replace("one two\ttwo one\n", "one two\ttwo\n"))
        repair_only(run)
    finally:
        source.write_text(before)
    assert "has changed since the run began" in " ".join(status(run.path).repairs)


@pytest.mark.parametrize("damage", OF_A_FILE)
def test_the_recipe_is_in_the_checkpoints_too(run: RunFolder, quiet: RunFolder, damage: Damage) -> None:
    damage(run.config)
    left = run.config.read_bytes() if run.config.exists() else None
    look_into(run)  # an export takes the recipe's words
    assert run.recipe() == quiet.recipe()
    repair_only(run)
    assert run.recipe() == quiet.recipe()
    assert "config.json was damaged" in " ".join(status(run.path).repairs)
    assert left is None or (run.path / "config.json.damaged").read_bytes() == left


def test_without_any_recipe_the_sentence_leads_to_a_new_run(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    as_older_versions_wrote_it(run)
    cut(run.config)
    look_into(run)
    with pytest.raises(ValueError, match="config.json is not the recipe") as error:
        resume(run.path)
    start = str(error.value).rsplit(" ", 1)[1].rstrip(".")
    command = json.loads((Path(start) / "card.json").read_text())["command"]
    out = run.path.parent / "again"
    words = [str(out) if word == "RUN" else word for word in shlex.split(command)[3:]]
    monkeypatch.setattr("headlight.runs.steer.spawn", launch_here)
    assert main([*words, "--start", start, "--detach"]) == 0
    assert work(out) == "finished"


@pytest.mark.parametrize("damage", OF_A_FILE)
def test_a_damaged_status_is_a_crash_that_goes_on(run: RunFolder, quiet: RunFolder, damage: Damage) -> None:
    damage(run.status)
    look_at(run)
    run_status = status(run.path)
    assert run_status.state in ("crashed", "paused")
    assert (run_status.step, run_status.steps) == (PAUSED_STEP, LAST_STEP)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)


@pytest.mark.parametrize("name", ["last", "best"])
@pytest.mark.parametrize("wrong", ["missing", "dangling", "file", "folder", "loop"])
def test_links_that_lead_nowhere_are_made_again(run: RunFolder, name: str, wrong: str) -> None:
    link = run.checkpoints / name
    link.unlink()
    if wrong == "file":
        link.write_text("step-0000014")
    elif wrong == "folder":
        link.mkdir()
        (link / "mine").touch()
    elif wrong != "missing":
        link.symlink_to(name if wrong == "loop" else "step-0000099")
    look_at(run)
    assert main(["describe", str(link)]) in (0, 1)
    export(run.path, run.path.parent / "shipped", score=False)
    repair_only(run)
    steps = {"last": PAUSED_STEP, "best": 10}
    assert (run.checkpoints / name).resolve() == run.checkpoint(steps[name]).resolve()
    if wrong == "folder":
        assert (run.checkpoints / f"{name}.damaged" / "mine").exists()


@pytest.mark.parametrize("name", ["log.txt", "control", "lock", "reserve"])
@pytest.mark.parametrize("damage", [missing, noise])
def test_what_only_serves_the_moment_may_be_damaged(
    run: RunFolder, quiet: RunFolder, name: str, damage: Damage
) -> None:
    (run.path / name).write_bytes(bytes(100))
    damage(run.path / name)
    look_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, quiet)
