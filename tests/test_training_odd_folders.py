"""Folders, pipes and links in place of the files of a run block nothing and do not affect other runs."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headlight.cli.verbs import main
from headlight.runs import Metrics, RunFolder, extend, pause, resume, status, statuses, work
from tests.small_run import finished_run, launch_here, lines, new_run

pytestmark = pytest.mark.slow  # hundreds of damaged runs

STEPS = 12
FILES = ("config.json", "status.json", "metrics.jsonl", "metrics.part", "log.txt", "control", "lock", "reserve")
FOLDERS = ("checkpoints", "history", "weights", "data", "start", "tensorboard")
DEEPER = (
    "checkpoints/new.part", "checkpoints/best.part", "checkpoints/step-0000012/training.json",
    "checkpoints/step-0000012/card.json", "history/step-0000013.safetensors", "weights/step-0000013.safetensors",
    "weights/step-0000013.part", "data/tokens.bin", "data/files.json",
)  # fmt: skip
Oddity = Callable[[Path], None]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    return finished_run(folder, "odd", steps=STEPS, evaluate_every=6, snapshots=2, average=2).path


@pytest.fixture
def runs(finished: Path, tmp_path: Path) -> Path:
    """Two runs that have finished, "good" and "odd"."""
    for name in ("good", "odd"):
        shutil.copytree(finished, tmp_path / "runs" / name, symlinks=True)
    return tmp_path / "runs"


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """Fail after a minute: opening a pipe for reading would block forever."""

    def late(number: int, frame: object) -> None:
        pytest.fail("it waits")  # an AssertionError might be caught, as any fault of a run

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "mine").touch()


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "no" / "where")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def file(path: Path) -> None:
    path.write_text("mine")


def put(path: Path, kind: Oddity) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    kind(path)


CASES = [(name, kind) for name in FILES for kind in (pipe, folder, dangling)] + [("status.json", loop)]
CASES += [(name, kind) for name in FOLDERS for kind in (pipe, file, dangling)] + [("checkpoints", loop)]
CASES += [(name, kind) for name in DEEPER for kind in (pipe, folder)]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_run_with_something_odd_in_it_is_seen_beside_the_others_and_goes_on(
    runs: Path, name: str, kind: Oddity, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunFolder(runs / "odd")
    put(run.path / name, kind)
    states = {run_status.name: run_status.state for run_status in statuses(runs)}
    assert states.keys() == {"good", "odd"} and states["good"] == "finished"
    assert main(["runs", str(runs)]) == 0
    Metrics(run.path).read()
    extend_or_resume(run)
    ended = work(run.path)
    run_status = status(run.path)
    assert (ended, run_status.state) == ("finished", "finished"), run_status.cause
    assert not run_status.damaged and "Errno" not in "".join(
        [run_status.cause, *run_status.repairs, *capsys.readouterr()]
    )
    if name in (*FILES, *FOLDERS) and not name.endswith(".part"):
        aside = run.path / f"{name}.damaged"
        assert os.path.lexists(aside) and (kind is not folder or (aside / "mine").exists())
        if name not in ("lock", "config.json"):  # which holds nothing, and which was written again
            assert any(name in text and f"{name}.damaged" in text for text in run_status.repairs)
            assert all(text in run.log.read_text() for text in run_status.repairs)


def extend_or_resume(run: RunFolder) -> None:
    """Makes a worker due: for one step more where there is a checkpoint, else from the first."""
    if run.steps():
        extend(run.path, STEPS + 1, launcher=launch_here)
    else:
        resume(run.path, launcher=launch_here)


@pytest.mark.parametrize("kind", [pipe, dangling])
@pytest.mark.parametrize("name", ["log.txt", "control", "reserve", "data", "data/tokens.bin", "metrics.jsonl"])
def test_a_run_that_never_began_begins_all_the_same(tmp_path: Path, name: str, kind: Oddity) -> None:
    run = new_run(tmp_path, steps=2)
    put(run.path / name, kind)
    assert work(run.path) == "finished"
    assert len(lines(run)) == 2 and not status(run.path).damaged


def test_what_stood_in_the_way_of_the_launch_is_reported_by_the_worker(runs: Path) -> None:
    run = RunFolder(runs / "odd")
    put(run.status, folder)
    extend(run.path, STEPS + 1, launcher=launch_here)
    repairs = status(run.path).repairs
    assert status(run.path).state == "queued" and "status.json is not a file" in repairs[0]
    assert work(run.path) == "finished"
    assert status(run.path).repairs == repairs and repairs[0] in run.log.read_text()


def test_a_request_can_be_made_where_a_pipe_stood(runs: Path) -> None:
    run = RunFolder(runs / "odd")
    extend(run.path, STEPS + 1, launcher=launch_here)
    put(run.control, pipe)
    assert run.request() is None and status(run.path).alive
    pause(run.path)
    assert run.request() == "pause"


def test_a_run_that_cannot_be_read_fails_alone(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(run: RunFolder) -> list[Path]:
        if run.name == "odd":
            raise PermissionError(13, "Permission denied", str(run.checkpoints))
        return step_folders(run)

    step_folders = RunFolder.step_folders
    monkeypatch.setattr(RunFolder, "step_folders", steps)
    states = {run.name: run for run in statuses(runs)}
    assert states["good"].state == "finished"
    assert states["odd"].state == "crashed" and states["odd"].cause.endswith("cannot be used: Permission denied.")
