"""Starting, pausing, stopping, resuming, extending, starting again and deleting runs, and what goes wrong in them."""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from headlight import checkpoints
from headlight.runs import (
    Metrics,
    RunFolder,
    Status,
    delete,
    export,
    extend,
    kill,
    pause,
    resume,
    start,
    status,
    stop,
    work,
)
from headlight.runs.session import snapshot_steps
from headlight.runs.steer import claim
from tests.small import small_checkpoint, small_t5_checkpoint
from tests.small_run import MODEL, finished_run, launch_here, lines, new_run, small_recipe, wait_until, worker
from tests.test_training_resume import assert_same_run
from transformer.checkpoint import Checkpoint
from transformer.files import write_json


def gives_way(worker: int) -> bool:
    """Whether it comes after others at the processor: within its session, and its session among the others."""
    group = Path(f"/proc/{worker}/autogroup")
    shared = group.exists() and "nice" in group.read_text()
    return os.getpriority(os.PRIO_PROCESS, worker) == 10 and (not shared or "nice 10" in group.read_text())


def wait_for(run: RunFolder, *states: str) -> Status:
    wait_until(lambda: status(run.path).state in states)
    return status(run.path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of sixty steps, which no test changes."""
    return finished_run(tmp_path_factory.mktemp("finished"), steps=60, snapshots=3)


@pytest.fixture
def run(finished: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of it."""
    return RunFolder(shutil.copytree(finished.path, tmp_path / "run", symlinks=True))


def test_a_finished_run_is_a_folder_that_opens(finished: RunFolder) -> None:
    run = finished
    run_status = status(run.path)
    assert (run_status.state, run_status.step, run_status.steps, run_status.saved_step) == ("finished", 60, 60, 60)
    metrics = Metrics(run.path).read()
    assert [line["step"] for line in metrics] == list(range(1, 61))
    evaluated = {line["step"]: line["evaluation"] for line in metrics if "evaluation" in line}
    assert list(evaluated) == [25, 50, 60]
    assert evaluated[60]["watched"][0]["text"] == "one two"
    assert metrics[-1]["epoch"] > metrics[0]["epoch"] == 0
    last, best = (checkpoints.load(run.checkpoints / name) for name in ("last", "best"))
    assert last.card["step"] == 60 and "headlight train" in last.card["command"]
    assert best.card["step"] == max(evaluated, key=lambda step: (evaluated[step]["chrf"], -step))
    assert run.steps() == sorted({56, 60, best.card["step"]})
    recipe = run.recipe()
    assert recipe.model == last.model.config and recipe.model.source_vocab_size == last.source_tokenizer.vocab_size
    snapshots = sorted(run.history.iterdir())
    assert [path.stem for path in snapshots] == [f"step-{step:07d}" for step in sorted(snapshot_steps(recipe.training))]
    assert snapshots[0].stem == "step-0000000" and len(snapshots) == 4
    before, after = load_file(snapshots[0]), load_file(snapshots[-1])
    assert torch.equal(after["output.weight"], last.model.output.weight.half())
    assert not torch.equal(before["output.weight"], after["output.weight"])


@pytest.mark.slow
def test_from_the_command_line_through_a_pause_and_a_kill_to_the_end(tmp_path: Path) -> None:
    """The process that starts the run ends at once, as an app that is restarted; others steer the worker."""
    recipe = small_recipe(tmp_path, steps=200, evaluate_every=80)
    quiet = finished_run(tmp_path, "quiet", recipe)
    run = RunFolder(tmp_path / "run")
    command = [sys.executable, *shlex.split(recipe.command(str(run.path)))[1:], "--detach"]
    subprocess.run(command, check=True, timeout=300)
    with pytest.raises(ValueError, match="exists already"):
        start(recipe, run.path)
    with pytest.raises(ValueError, match="is (queued|running) already"):
        resume(run.path)
    with pytest.raises(ValueError, match="pause it first"):
        extend(run.path, 500)
    with pytest.raises(ValueError, match="(Another process|stop it first)"):
        delete(run.path)
    wait_until(lambda: len(lines(run)) > 5)
    assert gives_way(status(run.path).pid or 0)
    pause(run.path)
    run_status = wait_for(run, "paused")
    assert run_status.step < 200 and run_status.saved_step == len(lines(run))
    with pytest.raises(ValueError, match="no worker that could pause"):
        pause(run.path)
    with pytest.raises(ValueError, match="no worker that could be ended"):
        kill(run.path)
    resume(run.path)
    wait_until(lambda: len(lines(run)) > (run_status.saved_step or 0) + 5)
    kill(run.path)
    run_status = status(run.path)
    assert run_status.state == "crashed" and "signal 9" in run_status.cause and run_status.saved_step
    resume(run.path)
    assert wait_for(run, "finished", "crashed").state == "finished"
    assert_same_run(quiet, run)
    with pytest.raises(ValueError, match="has finished at step 200"):
        resume(run.path)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_pauses_its_run(tmp_path: Path, number: signal.Signals) -> None:
    run = RunFolder(tmp_path / "run")
    words = shlex.split(small_recipe(tmp_path, steps=100_000).command(str(run.path)))

    def interruptible() -> None:  # which nothing is that a shell runs in the background, these tests included
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = subprocess.Popen(
        [sys.executable, *words[1:]], stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    )
    try:
        wait_until(lambda: run.metrics.exists() and len(lines(run)) > 3)
        command.send_signal(number)
        errors = command.communicate(timeout=300)[1]
    finally:
        with suppress(ValueError):  # it has ended
            kill(run.path)
    assert command.returncode == 0 and f"python -m headlight resume {run.path}" in errors
    assert status(run.path).state == "paused"


@pytest.mark.parametrize(("ask", "state"), [(pause, "paused"), (stop, "stopped")])
def test_a_worker_that_is_asked_writes_a_checkpoint_first(ask: object, state: str, tmp_path: Path) -> None:
    run = new_run(tmp_path, steps=100_000, checkpoint_every=100_000)
    process = worker(run)
    wait_until(lambda: run.metrics.exists() and len(lines(run)) > 3)
    ask(run.path)  # type: ignore[operator]
    process.join()
    run_status = status(run.path)
    assert run_status.state == state and run_status.saved_step == len(lines(run)) > 3 and not run.request()
    assert "Resume" in run_status.advice


def test_a_signal_from_outside_pauses(tmp_path: Path) -> None:
    run = new_run(tmp_path, steps=100_000)
    process = worker(run)
    wait_until(lambda: run.metrics.exists() and len(lines(run)) > 3)
    os.kill(process.pid or 0, signal.SIGTERM)
    process.join()
    assert status(run.path).state == "paused"


def test_what_was_asked_before_the_worker_began_is_done(tmp_path: Path) -> None:
    run = new_run(tmp_path, steps=3)
    run.post_request("stop")
    assert work(run.path) == "stopped"
    assert work(run.path) == "finished"  # it is asked once


def test_of_two_workers_one_works(tmp_path: Path) -> None:
    run = new_run(tmp_path, steps=100_000)
    process = worker(run)
    wait_until(lambda: run.metrics.exists() and len(lines(run)) > 0)
    with pytest.raises(ValueError, match="Another process is working in"), run.locked(patience=0.2):
        pass
    kill(run.path)
    process.join()


def test_a_run_whose_data_cannot_be_read_leaves_nothing_behind(tmp_path: Path) -> None:
    recipe = replace(small_recipe(tmp_path), data=str(tmp_path / "none.tsv"))
    with pytest.raises(ValueError, match="none.tsv"):
        claim(recipe, tmp_path / "run")
    with pytest.raises(ValueError, match="no checkpoint in"):
        claim(replace(small_recipe(tmp_path), start=str(tmp_path)), tmp_path / "run")
    (tmp_path / "empty.tsv").write_text("only one side\n")
    with pytest.raises(ValueError, match="no pair to train on"):
        claim(replace(small_recipe(tmp_path), data=str(tmp_path / "empty.tsv")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_longer_run_goes_on_from_its_end(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=20, schedule="constant")
    longer = finished_run(tmp_path, "longer", steps=40, schedule="constant")
    with pytest.raises(ValueError, match="has made 20 steps already"):
        extend(run.path, 20)
    extend(run.path, 40, launcher=launch_here)
    assert work(run.path) == "finished"
    assert [line["loss"] for line in lines(run)] == [line["loss"] for line in lines(longer)]


def test_a_run_starts_again_from_a_checkpoint_with_other_settings(run: RunFolder, tmp_path: Path) -> None:
    first, before = run, lines(run)
    recipe = first.recipe()
    again = replace(
        recipe, start=str(first.checkpoints / "best"), training=replace(recipe.training, learning_rate=1e-4)
    )
    run = claim(again, tmp_path / "again")
    delete(first.path)  # it has its own copy
    assert work(run.path) == "finished"
    after = lines(run)
    assert after[0]["step"] == 1 and after[0]["loss"] < 0.7 * before[0]["loss"]
    start_of_second = load_file(run.start / "model.safetensors")
    assert set(start_of_second) == set(load_file(run.checkpoints / "last" / "model.safetensors"))
    other = replace(again, model=replace(MODEL, d_model=32), start=str(run.checkpoints / "best"))
    wrong = claim(other, tmp_path / "wrong")
    assert work(wrong.path) == "crashed"
    assert "32" in status(wrong.path).cause


@pytest.mark.parametrize(
    ("checkpoint", "what"),
    [(small_t5_checkpoint(), "is a T5"), (small_checkpoint(pad_id=5), "has pad_id 5, and a training here has 0")],
)
def test_a_run_does_not_start_from_what_it_would_train_wrongly(
    tmp_path: Path, checkpoint: Checkpoint, what: str
) -> None:
    checkpoints.save(checkpoint, tmp_path / "imported")
    with pytest.raises(ValueError, match=what):
        claim(replace(small_recipe(tmp_path), start=str(tmp_path / "imported")), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_early_stopping_ends_when_nothing_got_better_and_more_steps_wait_again(tmp_path: Path) -> None:
    """The learning rate is nearly zero, so no evaluation is better than the first."""
    settings = {"steps": 100, "evaluate_every": 5, "patience": 3, "learning_rate": 1e-12}
    run = finished_run(tmp_path, **settings)  # type: ignore[arg-type]
    assert len(lines(run)) == 20
    run_status = status(run.path)
    assert run_status.state == "finished" and "3 evaluations were no better than that of step 5" in run_status.cause
    recipe = run.recipe()
    write_json(run.config, replace(recipe, training=replace(recipe.training, steps=200)).to_dict())
    work(run.path)
    assert len(lines(run)) == 35


def test_a_run_that_diverges_says_so_and_keeps_its_last_good_checkpoint(tmp_path: Path) -> None:
    run = new_run(tmp_path, steps=1000, learning_rate=1e29, warmup=0, schedule="constant", checkpoint_every=1)
    assert work(run.path) == "diverged"
    run_status = status(run.path)
    assert "became" in run_status.cause and f"step {len(lines(run)) + 1}" in run_status.cause
    assert run_status.advice.startswith("Start again with a lower learning rate")  # nothing was scored before
    assert run_status.log[-1].endswith(run_status.cause)
    model = checkpoints.load(run.checkpoints / "best").model
    assert all(p.isfinite().all() for p in model.parameters())


@contextmanager
def tiny_disk(path: Path) -> Iterator[Path]:
    """A disk of 700 kB, where there is leave to mount one."""
    path.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(path)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("no leave to mount a disk")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run long enough to be disturbed in its middle, undisturbed."""
    return finished_run(tmp_path_factory.mktemp("quiet"), "quiet", steps=150)


@pytest.mark.slow
def test_a_full_disk_is_reported_and_costs_nothing_but_time(quiet: RunFolder, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk") as disk:
        run = new_run(disk, "run", quiet.recipe())
        process = worker(run)
        wait_until(lambda: run.metrics.exists() and len(lines(run)) > 20)
        filler = disk / "filler"
        with pytest.raises(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        process.join()
        run_status = status(run.path)
        assert run_status.state == "out of disk" and run_status.cause and "Free some disk space" in run_status.advice
        assert run_status.saved_step
        filler.unlink()
        assert work(run.path) == "finished"
        assert_same_run(quiet, run)


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_a_full_disk_too(quiet: RunFolder, tmp_path: Path) -> None:
    run = new_run(tmp_path, "run", quiet.recipe())
    process = worker(run)
    wait_until(lambda: run.metrics.exists() and len(lines(run)) > 20)
    resource.prlimit(process.pid or 0, resource.RLIMIT_FSIZE, (8_000, 8_000))  # less than a checkpoint
    process.join()
    run_status = status(run.path)
    assert run_status.state == "out of disk" and run_status.saved_step
    assert work(run.path) == "finished"
    assert_same_run(quiet, run)


def test_an_error_of_the_program_is_a_crash_with_its_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tmp_path, steps=26)
    monkeypatch.setattr("headlight.runs.session.Evaluator.__call__", lambda *_: 1 / 0)
    assert work(run.path) == "crashed"
    run_status = status(run.path)
    assert run_status.cause == "division by zero" and run_status.saved_step == 21
    monkeypatch.undo()
    assert work(run.path) == "finished"


def test_a_run_is_exported_whole_or_not_at_all(run: RunFolder, tmp_path: Path) -> None:
    out = tmp_path / "shipped"
    card = export(run.path, out).card
    shipped, best = checkpoints.load(out), checkpoints.load(run.checkpoints / "best")
    assert shipped.card == card and card["step"] == best.card["step"]
    halves = {name: p.half().float() for name, p in best.model.named_parameters()}
    assert all(torch.equal(p, halves[name]) for name, p in shipped.model.named_parameters())
    assert len(list((out / "history").iterdir())) == 4
    with pytest.raises(ValueError, match="exists already"):
        export(run.path, out)
    with pytest.raises(ValueError, match="no run in"):
        export(tmp_path, tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "shipped"]


def test_only_a_run_can_be_deleted(tmp_path: Path) -> None:
    run = finished_run(tmp_path, steps=3)
    with pytest.raises(ValueError, match="no run in"):
        delete(tmp_path)
    delete(run.path)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.tsv"]


@pytest.mark.slow
def test_event_files_hold_the_metrics_and_nothing_twice(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = new_run(tmp_path, recipe=replace(small_recipe(tmp_path, steps=30, checkpoint_every=1000), tensorboard=True))
    process = worker(run)
    wait_until(lambda: run.metrics.exists() and len(lines(run)) > 10)
    process.kill()
    process.join()
    time.sleep(1.0)  # the files are named, and so ordered, by the second
    assert work(run.path) == "finished"  # from update 0 or 25, so some are made again
    events = accumulator.EventAccumulator(str(run.path / "tensorboard"))
    events.Reload()
    metrics = Metrics(run.path).read()
    scalars = events.Scalars("train/loss")
    assert [event.step for event in scalars] == list(range(1, 31))
    assert [event.value for event in scalars] == pytest.approx([line["loss"] for line in metrics])
    assert [event.step for event in events.Scalars("validation/chrf")] == [25, 30]


def test_event_files_without_their_package_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ValueError, match=r"needs tensorboard: pip install .*\[train\]"):
        claim(replace(small_recipe(tmp_path), tensorboard=True), tmp_path / "run")
    assert not (tmp_path / "run").exists()
