"""Whatever is damaged in a run's folder, the run goes on to the same weights, or a sentence says what works."""

from __future__ import annotations

import json
import os
import random
import shlex
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from tests.small_run import finished_run, lines, new_run, small_recipe
from transformer import checkpoints
from transformer.__main__ import main
from transformer.files import write_json
from transformer.training import Metrics, RunFolder, export, extend, resume, status, statuses, work
from transformer.training.metrics import Journal, sound_line
from transformer.training.steer import claim

LAST, END = 14, 20
RECIPE = {"steps": END, "evaluate_every": 10, "checkpoint_every": 6, "snapshots": 2}
Damage = Callable[[Path], None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: "quiet", which finished undisturbed, and "paused", the same after update 14."""
    folder = tmp_path_factory.mktemp("damage")
    recipe = small_recipe(folder, **RECIPE)
    finished_run(folder, "quiet", recipe)
    paused, add = new_run(folder, "paused", recipe), Journal.add
    with pytest.MonkeyPatch.context() as patch:

        def added(journal: Journal, line: dict[str, Any]) -> None:
            add(journal, line)
            if line["step"] == LAST:
                paused.ask("pause")

        patch.setattr(Journal, "add", added)
        assert work(paused.path) == "paused"
    assert {12, LAST} <= {*paused.steps()}
    return folder


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> RunFolder:
    """A copy of the paused run."""
    shutil.copytree(folder / "paused", tmp_path / "run", symlinks=True)
    return RunFolder(tmp_path / "run")


def as_older_versions_wrote_it(run: RunFolder) -> None:
    """Without checksums and copies of the recipe."""
    for path in [*run.path.rglob("files.json"), *run.path.rglob("recipe.json")]:
        path.unlink()


def final(run: RunFolder) -> dict[str, torch.Tensor]:
    files = ("model.safetensors", "optimizer.safetensors")
    return {f"{file} {name}": t for file in files for name, t in load_file(run.checkpoint(END) / file).items()}


def assert_ends_as(run: RunFolder, quiet: RunFolder) -> None:
    a, b = final(run), final(quiet)
    assert set(a) == set(b) and all(torch.equal(tensor, b[name]) for name, tensor in a.items())
    assert (run.checkpoints / "last").resolve() == run.checkpoint(END).resolve()
    checkpoints.load(run.checkpoints / "best")


def looked_at(run: RunFolder) -> None:
    """Everything that looks at a run does what it is for, or says in a sentence why not."""
    run_status = status(run.path)
    assert [one.name for one in statuses(run.path.parent)] == [run_status.name]
    assert main(["runs", str(run.path.parent)]) == 0
    for line in Metrics(run.path).read():
        assert line["step"] > 0
    out = run.path.parent / "shipped"
    with suppress(ValueError):
        assert checkpoints.load(out).card if export(run.path, out, score=False) else None
    shutil.rmtree(out, ignore_errors=True)
    for name in ("best", "last"):
        assert main(["describe", str(run.checkpoints / name)]) in (0, 1)
    best = run.best()
    assert best is None or best.is_dir()


# ---- the ways in which a file can be damaged -----------------------------------------------------------------------


def missing(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path: Path) -> None:
    path.write_bytes(random.Random(0).randbytes(path.stat().st_size))


def another_kind(path: Path) -> None:
    path.unlink()
    path.mkdir()


def mutated(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: mutated(one, leaf) for name, one in value.items()}
    return [mutated(one, leaf) for one in value] if isinstance(value, list) else leaf(value)


def wrong_types(path: Path) -> None:
    """What JSON allows and nobody wrote: texts for numbers and numbers for texts; weights of whole numbers."""
    if path.suffix == ".safetensors":
        save_file({name: tensor.to(torch.int32) for name, tensor in load_file(path).items()}, path)
    else:
        values = json.loads(path.read_text())
        path.write_text(json.dumps(mutated(values, lambda leaf: 5 if isinstance(leaf, str) else "s")))


def wrong_shapes(path: Path) -> None:
    if path.suffix == ".safetensors":
        save_file({name: torch.stack([tensor, tensor]) for name, tensor in load_file(path).items()}, path)
    else:
        path.write_text(json.dumps([json.loads(path.read_text())]))


def huge(path: Path) -> None:
    """The largest numbers that can be written; weights that are none."""
    if path.suffix == ".safetensors":
        save_file({name: torch.full_like(tensor, torch.inf) for name, tensor in load_file(path).items()}, path)
    else:
        values = json.loads(path.read_text())
        path.write_text(json.dumps(mutated(values, lambda leaf: leaf if isinstance(leaf, str) else 10**400)))


DAMAGES = (missing, empty, cut, noise, another_kind, wrong_types, wrong_shapes, huge)
STATE = ("model.safetensors", "optimizer.safetensors", "training.json", "config.json", "tokenizer.json")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [*STATE, "card.json", "recipe.json", "files.json"])
def test_a_damaged_checkpoint_costs_the_updates_since_the_one_before(
    run: RunFolder, folder: Path, name: str, damage: Damage, older: bool
) -> None:
    if older:
        as_older_versions_wrote_it(run)
    path = run.checkpoint(LAST) / name
    if not path.exists() or (older and damage is huge and name == "optimizer.safetensors"):
        pytest.skip("older versions had no such file, or nothing that tells a huge number from a right one")
    damage(path)
    left = path.read_bytes() if path.is_file() else None
    looked_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    assert [line["step"] for line in lines(run)] == list(range(1, END + 1))
    run_status = status(run.path)
    noticed = name in STATE if older else name != "files.json"
    aside = run.checkpoints / f"{run.checkpoint(LAST).name}.damaged"
    if noticed:
        mended = " ".join(run_status.mended)
        assert "step-0000014 is damaged" in mended and "goes on from step 12" in mended and name in mended
        assert all(text in run.log.read_text() for text in run_status.mended)
        assert left is None or (aside / name).read_bytes() == left
    assert not run_status.damaged
    looked_at(run)


def test_an_empty_folder_with_a_huge_number_is_no_checkpoint(run: RunFolder, folder: Path) -> None:
    (run.checkpoints / "step-9999999").mkdir()
    (run.checkpoints / f"step-{'9' * 40}").write_text("")
    (run.checkpoints / "step-15").mkdir()
    run_status = status(run.path)
    assert run_status.saved_step == LAST and "goes on from step 14" in run_status.advice
    assert any("step-9999999 in checkpoints/ is damaged" in text for text in run_status.damaged)
    looked_at(run)
    extend(run.path, END, launcher=lambda folder: os.getpid())  # was "has made 9,999,999 steps already"
    run.status.unlink()
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    assert (run.checkpoints / "step-9999999.damaged").is_dir()


# ---- the rest of the folder ----------------------------------------------------------------------------------------


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def torn_in_the_middle(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 3] + b"\xff\x00{" + content[len(content) // 3 + 50 :])


@pytest.mark.parametrize("damage", [missing, empty, cut, noise, zeros, torn_in_the_middle])
def test_metrics_lose_the_lines_that_are_lost_and_no_others(run: RunFolder, folder: Path, damage: Damage) -> None:
    whole = len(lines(run))
    damage(run.metrics)
    left, known = run.metrics.read_bytes() if run.metrics.exists() else b"", len(lines(run))
    looked_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    quiet = {line["step"]: line for line in lines(RunFolder(folder / "quiet"))}
    metrics = lines(run)
    assert len(metrics) == known + END - whole and all(line == quiet[line["step"]] for line in metrics)
    assert f"metrics.jsonl lacks {whole - known:,} of the {LAST:,} steps" in " ".join(status(run.path).mended)
    if left and damage is not cut:
        assert (run.path / "metrics.jsonl.damaged").read_bytes() == left


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("damage", [missing, empty, cut, noise, zeros])
@pytest.mark.parametrize("name", ["tokens.bin", "lengths.bin", "facts.json", "validation.jsonl"])
def test_a_damaged_corpus_is_read_again(run: RunFolder, folder: Path, name: str, damage: Damage, older: bool) -> None:
    if older:
        as_older_versions_wrote_it(run)
    if older and name == "tokens.bin" and damage is zeros:
        pytest.skip("older versions could not know that these were not the tokens")
    if older and name == "validation.jsonl" and damage is cut:
        pytest.skip("older versions could not know how many pairs there were")
    damage(run.data / name)
    looked_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    assert (run.path / "data.damaged").is_dir()
    assert "It is read again from" in " ".join(status(run.path).mended)
    assert "has changed" not in " ".join(status(run.path).mended)
    assert work(run.path) == "finished" and not status(run.path).mended  # once is enough


def test_a_corpus_that_is_gone_twice_can_be_put_back(run: RunFolder, folder: Path) -> None:
    shutil.rmtree(run.data)
    source = Path(run.recipe().data)
    hidden = source.rename(source.with_name("hidden.tsv"))
    try:
        assert work(run.path) == "crashed"
        run_status = status(run.path)
        assert f"Put back {source}" in run_status.cause and run_status.saved_step == LAST
    finally:
        hidden.rename(source)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))


def test_a_corpus_that_has_changed_meanwhile_is_reported(run: RunFolder) -> None:
    (run.data / "tokens.bin").unlink()
    source = Path(run.recipe().data)
    before = source.read_text()
    try:
        source.write_text(before.replace("one two\ttwo one\n", "one two\ttwo\n"))
        assert work(run.path) == "finished"
    finally:
        source.write_text(before)
    assert "has changed since the run began" in " ".join(status(run.path).mended)


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_recipe_is_in_the_checkpoints_too(run: RunFolder, folder: Path, damage: Damage) -> None:
    if damage is another_kind:
        pytest.skip("a folder of that name is no file of anybody's")
    damage(run.config)
    left = run.config.read_bytes() if run.config.exists() else None
    looked_at(run)
    assert run.recipe() == RunFolder(folder / "quiet").recipe()
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    assert "config.json was damaged" in " ".join(status(run.path).mended)
    assert left is None or (run.path / "config.json.damaged").read_bytes() == left


def test_without_any_recipe_the_sentence_leads_to_a_new_run(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    as_older_versions_wrote_it(run)
    cut(run.config)
    looked_at(run)
    with pytest.raises(ValueError, match="config.json is not the recipe") as error:
        resume(run.path)
    start = str(error.value).rsplit(" ", 1)[1].rstrip(".")
    command = json.loads((Path(start) / "card.json").read_text())["command"]
    out = run.path.parent / "again"
    words = [str(out) if word == "RUN" else word for word in shlex.split(command)[3:]]
    monkeypatch.setattr("transformer.training.steer.spawn", lambda folder: os.getpid())
    assert main([*words, "--start", start, "--detach"]) == 0
    assert work(out) == "finished"


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_status_is_a_crash_that_goes_on(run: RunFolder, folder: Path, damage: Damage) -> None:
    if damage is another_kind:
        pytest.skip("a folder of that name is no file of anybody's")
    damage(run.status)
    looked_at(run)
    run_status = status(run.path)
    assert (run_status.state, run_status.step, run_status.steps) in (("crashed", LAST, END), ("paused", LAST, END))
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))


@pytest.mark.parametrize("name", ["last", "best"])
@pytest.mark.parametrize("wrong", ["missing", "dangling", "file", "folder", "loop"])
def test_links_that_lead_nowhere_are_made_again(run: RunFolder, folder: Path, name: str, wrong: str) -> None:
    link = run.checkpoints / name
    link.unlink()
    if wrong == "file":
        link.write_text("step-0000014")
    elif wrong == "folder":
        link.mkdir()
        (link / "mine").touch()
    elif wrong != "missing":
        link.symlink_to(name if wrong == "loop" else "step-0000099")
    looked_at(run)
    export(run.path, run.path.parent / "shipped", score=False)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    if wrong == "folder":
        assert (run.checkpoints / f"{name}.damaged" / "mine").exists()


@pytest.mark.parametrize("name", ["log.txt", "control", "lock", "reserve"])
@pytest.mark.parametrize("damage", [missing, noise])
def test_what_only_serves_the_moment_may_be_damaged(run: RunFolder, folder: Path, name: str, damage: Damage) -> None:
    (run.path / name).write_bytes(bytes(100))
    damage(run.path / name)
    looked_at(run)
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))


# ---- where nothing is left -----------------------------------------------------------------------------------------


def test_without_a_whole_checkpoint_the_run_says_so_and_begins_again(run: RunFolder, folder: Path) -> None:
    for path in run.step_folders():
        cut(path / "optimizer.safetensors")
    looked_at(run)
    with pytest.raises(ValueError, match="no intact checkpoint"):
        extend(run.path, 2 * END)
    assert work(run.path) == "crashed"
    run_status = status(run.path)
    assert "No checkpoint is intact" in run_status.cause and "Resume the run once more" in run_status.cause
    usable = run.checkpoints / next(word for word in run_status.cause.split() if word.startswith("step-"))
    assert claim(small_recipe_from(run, usable), run.path.parent / "other").start.is_dir()
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    assert len(list(run.checkpoints.glob("*.damaged"))) == len(run_status.mended)
    assert (run.path / "metrics.jsonl.damaged").exists()


def small_recipe_from(run: RunFolder, start: Path) -> Any:
    from dataclasses import replace

    return replace(run.recipe(), start=str(start))


def test_a_run_does_not_start_from_a_damaged_checkpoint(run: RunFolder) -> None:
    cut(run.checkpoint(LAST) / "model.safetensors")
    with pytest.raises(ValueError, match="model.safetensors"):
        claim(small_recipe_from(run, run.checkpoint(LAST)), run.path.parent / "other")
    assert not (run.path.parent / "other").exists()
    assert claim(small_recipe_from(run, run.checkpoint(12)), run.path.parent / "other").start.is_dir()


@pytest.mark.parametrize("damage", [missing, cut, noise, wrong_shapes])
def test_a_finished_run_gets_its_end_back(folder: Path, tmp_path: Path, damage: Damage) -> None:
    shutil.copytree(folder / "quiet", tmp_path / "run", symlinks=True)
    run = RunFolder(tmp_path / "run")
    with pytest.raises(ValueError, match="has finished"):
        resume(run.path)
    damage(run.checkpoint(END) / "model.safetensors")
    assert "Resume it" in status(run.path).advice
    looked_at(run)
    resume(run.path, launcher=lambda folder: os.getpid())
    assert work(run.path) == "finished"
    assert_ends_as(run, RunFolder(folder / "quiet"))
    with pytest.raises(ValueError, match="has finished"):
        resume(run.path)


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
    monkeypatch.setattr(import_module("transformer.training.export"), "LARGEST_HISTORY", 3 * max(sizes))
    export(run.path, run.path.parent / "few", score=False)
    kept = sorted(p.name for p in (run.path.parent / "few" / "history").iterdir())
    assert kept == [snapshots[at].name for at in (0, 2, 4)]


def test_the_card_names_the_steps_that_the_run_has_now(run: RunFolder) -> None:
    recipe = run.recipe()
    run.keep(replace(recipe, training=replace(recipe.training, steps=33)))
    card = export(run.path, run.path.parent / "shipped", score=False).card
    assert "--steps 33" in card["command"] and card["step"] <= END


# ---- values that nobody thought of ---------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
bounded = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@bounded
@given(data=st.data())
def test_no_value_in_a_status_is_a_traceback(run: RunFolder, data: st.DataObject) -> None:
    values = json.loads(run.status.read_text())
    keys = st.sampled_from(["state", "pid", "created", "host", "due", "heartbeat", "mended", "step", "steps"])
    for name in data.draw(st.lists(keys, max_size=3, unique=True)):
        values[name] = data.draw(json_values | st.sampled_from(["running", "queued", os.uname().nodename]))
    kept = run.status.read_bytes()
    write_json(run.status, values)
    run_status = status(run.path)
    assert run_status.steps >= run_status.step >= 0 or "step" in values
    assert main(["runs", str(run.path.parent)]) == 0
    run.status.write_bytes(kept)


@bounded
@given(data=st.data())
def test_no_value_in_a_training_json_is_a_traceback(run: RunFolder, data: st.DataObject) -> None:
    from transformer.training import state

    path = run.checkpoint(LAST) / "training.json"
    (path.parent / "files.json").unlink(missing_ok=True)
    kept = path.read_bytes()
    values = json.loads(kept)
    for name in data.draw(st.lists(st.sampled_from(sorted(values)), max_size=3, unique=True)):
        values[name] = data.draw(json_values)
    write_json(path, values)
    with suppress(ValueError):
        state.check(path.parent)
        assert values["step"] == LAST and 0 <= values["best"] <= LAST
    path.write_bytes(kept)


@bounded
@given(values=json_values, name=st.sampled_from(["step", "loss", "tokens", "seconds", "gradient_norm", "evaluation"]))
def test_no_value_in_a_line_of_metrics_is_a_traceback(values: Any, name: str) -> None:
    line = {"step": 3, "loss": 1.0, "tokens": 5, "seconds": 0.1, "gradient_norm": None, name: values}
    sound = sound_line(json.dumps(line).encode())
    if sound is not None:
        assert float(sound["loss"]) < 1e101 and isinstance(sound.get("evaluation", {}), dict)


def test_weights_are_readable_to_whom_their_neighbours_are(run: RunFolder, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        shipped = finished_run(tmp_path, "masked", steps=1, snapshots=1)
    finally:
        os.umask(before)
    files = [path for path in shipped.path.rglob("*") if path.is_file() and path.name != "pairs.tsv"]
    assert {path.suffix for path in files} >= {".safetensors", ".json", ".bin"}
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o640"}
