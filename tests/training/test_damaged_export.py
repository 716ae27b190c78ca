"""Exporting a run whose snapshots or facts are damaged or too many."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from headlight.runs import RunFolder, export
from tests.damage import LAST_STEP, cut
from tests.small_run import finished_run


def test_a_snapshot_that_is_cut_is_left_out_of_what_is_shipped(run: RunFolder) -> None:
    first, *rest = sorted(run.history.glob("step-*"))
    cut(first)
    export(run.path, run.path.parent / "shipped", score=False)
    assert sorted(p.name for p in (run.path.parent / "shipped" / "history").iterdir()) == [p.name for p in rest]


def test_of_too_many_snapshots_the_first_and_the_last_are_shipped(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = sorted(run.history.glob("step-*"))
    while len(snapshots) < 5:
        snapshots.append(
            Path(shutil.copy(snapshots[-1], run.history / f"step-{9_000_000 + len(snapshots):07d}.safetensors"))
        )
    export(run.path, run.path.parent / "all", score=False)
    sizes = [path.stat().st_size for path in (run.path.parent / "all" / "history").iterdir()]
    assert len(sizes) == 5
    monkeypatch.setattr(import_module("headlight.runs.export"), "MAX_HISTORY_BYTES", 3 * max(sizes))
    export(run.path, run.path.parent / "few", score=False)
    kept = sorted(p.name for p in (run.path.parent / "few" / "history").iterdir())
    assert kept == [snapshots[at].name for at in (0, 2, 4)]


def test_the_card_names_the_steps_that_the_run_has_now(run: RunFolder) -> None:
    recipe = run.recipe()
    run.write_recipe(replace(recipe, training=replace(recipe.training, steps=33)))
    card = export(run.path, run.path.parent / "shipped", score=False).card
    assert "--steps 33" in card["command"] and card["step"] <= LAST_STEP


def test_weights_are_readable_to_whom_their_neighbours_are(run: RunFolder, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        shipped = finished_run(tmp_path, "masked", steps=1, snapshots=1)
    finally:
        os.umask(before)
    files = [path for path in shipped.path.rglob("*") if path.is_file() and path.name != "pairs.tsv"]
    assert {path.suffix for path in files} >= {".safetensors", ".json", ".bin"}
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o640"}
