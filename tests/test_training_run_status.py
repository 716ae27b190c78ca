"""The status of a run, its metrics while they are written, and the lock on its folder."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from headlight.runs import Metrics, RunFolder, run_path, status, statuses
from headlight.runs.metrics import Journal, metrics_line
from headlight.runs.run_status import ENDED_STATES, identify_process
from tests.small_run import new_run
from transformer.files import write_json
from transformer.training.loop import StepReport


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return new_run(tmp_path)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def say(run: RunFolder, **values: Any) -> None:
    now = time.time()
    known = {"state": "running", "step": 3, "steps": 60, "heartbeat": now, "due": now + 60, "host": platform.node()}
    write_json(run.status, {**known, **values})


def test_a_living_worker_runs_until_its_word_is_overdue(run: RunFolder, sleeper: subprocess.Popen[bytes]) -> None:
    say(run, **identify_process(sleeper.pid), doing="evaluating", seconds_left=12.5)
    run_status = status(run.path)
    assert (run_status.state, run_status.doing, run_status.seconds_left) == ("running", "evaluating", 12.5)
    assert (run_status.step, run_status.steps) == (3, 60)
    assert run_status.alive and not run_status.cause and not run_status.advice
    say(run, **identify_process(sleeper.pid), state="queued")
    assert status(run.path).state == "queued"
    say(run, **identify_process(sleeper.pid), heartbeat=time.time() - 100, due=time.time() - 1)
    run_status = status(run.path)
    assert (
        run_status.state == "stalled" and run_status.alive and "100 seconds" in run_status.cause and run_status.advice
    )


def test_a_number_that_another_process_has_by_now_is_not_the_worker(
    run: RunFolder, sleeper: subprocess.Popen[bytes]
) -> None:
    say(run, **{**identify_process(sleeper.pid), "created": psutil.Process(sleeper.pid).create_time() - 60})
    assert status(run.path).state == "crashed"


def test_a_worker_that_is_gone_or_a_zombie_has_crashed(run: RunFolder, sleeper: subprocess.Popen[bytes]) -> None:
    say(run, **identify_process(sleeper.pid))
    sleeper.kill()
    while psutil.Process(sleeper.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert status(run.path).state == "crashed"  # nobody has asked after it, so its number is still taken
    sleeper.wait()
    run_status = status(run.path)
    assert run_status.state == "crashed" and not run_status.alive and "without a message" in run_status.cause


@pytest.mark.parametrize("state", ENDED_STATES)
def test_the_last_word_of_a_worker_counts_whatever_became_of_it(run: RunFolder, state: str) -> None:
    say(run, state=state, cause="Because.", pid=2**22 + 1, created=0.0, due=0.0)
    run_status = status(run.path)
    assert (run_status.state, run_status.cause) == (state, "Because.") and run_status.advice


def test_the_worker_of_another_machine_is_judged_by_its_word_alone(run: RunFolder) -> None:
    say(run, host="another", pid=2**22 + 1, created=0.0)
    assert status(run.path).state == "running"


def test_a_machine_that_is_no_more_holds_no_run(run: RunFolder) -> None:
    """A restarted container has another name: the last word of the one before it is no reason to wait."""
    say(run, host="another", pid=2**22 + 1, created=0.0, due=time.time() - 1)
    with run.locked():
        assert status(run.path).state == "stalled"
    run_status = status(run.path)
    assert run_status.state == "crashed" and "machine" in run_status.cause and "resume" in run_status.advice


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"state": 3}', '{"pid": "x", "state": "running"}'])
def test_a_damaged_status_is_a_crash_that_can_be_resumed(run: RunFolder, damage: str) -> None:
    run.status.write_text(damage)
    assert status(run.path).state == "crashed"
    run.status.unlink()
    assert status(run.path).state == "crashed"


def test_what_is_asked_of_a_worker_shows_until_it_is_done(run: RunFolder, sleeper: subprocess.Popen[bytes]) -> None:
    say(run, **identify_process(sleeper.pid), doing="training")
    run.post_request("stop")
    assert status(run.path).doing == "stopping"
    say(run, state="stopped")
    assert status(run.path).doing == ""


def test_the_last_lines_of_a_long_log(run: RunFolder) -> None:
    run.log.write_bytes(b"".join(b"line %d\n" % n for n in range(100_000)) + b"\xff")
    run_status = status(run.path)
    assert run_status.log[-3:] == ["line 99998", "line 99999", "\ufffd"] and len(run_status.log) == 20


def test_runs_are_listed_with_the_latest_first(tmp_path: Path) -> None:
    for name, started in (("old", 1.0), ("new", 3.0), ("middle", 2.0)):
        say(new_run(tmp_path, name), state="finished", started=started)
    (tmp_path / "no-run").mkdir()
    assert [run_status.name for run_status in statuses(tmp_path)] == ["new", "middle", "old"]
    assert statuses(tmp_path / "nowhere") == []
    with pytest.raises(ValueError, match="no run in"):
        status(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a b", "-x", ".x", "x" * 65, "a\n"])
def test_a_name_that_is_no_plain_one_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        run_path(name, "runs")
    assert run_path("en-fr_2.1", "runs") == Path("runs/en-fr_2.1")


def test_the_folder_belongs_to_one_process_at_a_time(run: RunFolder) -> None:
    with run.locked(), pytest.raises(ValueError, match="Another process is working in"), run.locked(patience=0.1):
        pass
    with run.locked():
        pass


def line(step: int, **values: float) -> bytes:
    return json.dumps({"step": step, "loss": 1.0 / step, **values}).encode() + b"\n"


def test_metrics_are_read_as_they_come_and_torn_lines_when_they_are_whole(run: RunFolder) -> None:
    metrics = Metrics(run.path)
    assert metrics.read() == []
    with open(run.metrics, "ab", buffering=0) as file:
        file.write(line(1) + line(2)[:9])
        assert [entry["step"] for entry in metrics.read()] == [1]
        file.write(line(2)[9:] + b'{"torn\n' + b"[3]\n" + line(3))
        assert [entry["step"] for entry in metrics.read()] == [1, 2, 3]
        assert metrics.read() is metrics.lines


def test_metrics_start_over_where_a_run_took_lines_back(run: RunFolder) -> None:
    """The new file is longer than what was read of the old one."""
    run.metrics.write_bytes(line(1) + line(2) + line(3))
    metrics = Metrics(run.path)
    metrics.read()
    journal = Journal(run, step=1, events=False)
    for step in (2, 3, 4, 5):
        journal.add({"step": step, "again": True})
    steps = [(line["step"], "again" in line) for line in metrics.read()]
    assert steps == [(1, False), (2, True), (3, True), (4, True), (5, True)]
    journal.close()


def test_a_line_of_metrics_is_json_even_where_a_gradient_overflowed() -> None:
    line = metrics_line(StepReport(1, 2.0, 0.1, float("inf"), 10, 0.5), epoch=0)
    assert json.loads(json.dumps(line, allow_nan=False))["gradient_norm"] is None
