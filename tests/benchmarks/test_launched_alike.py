"""No contestant is launched with what another has not: threads, and whether freed memory is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import contest, measure, recording, training
from benchmarks.busy import ProcessorReading, shares
from headlight.runs.steer import worker_environment


class Process:
    """A contestant that answers every question with a number, and whose environment is kept."""

    environments: list[dict[str, str]] = []

    def __init__(self, command: list[str], env: dict[str, str], **_: Any) -> None:
        self.environments.append(env)
        self.args, self.stdin, self.stdout = command, self, self

    def write(self, text: str) -> None: ...
    def flush(self) -> None: ...
    def terminate(self) -> None: ...
    def wait(self) -> None: ...
    def readline(self) -> str:
        return json.dumps({"answer": 1.0 + len(self.args[3])})


class Idle:
    """A stand-in for `Busy`, which would become the parent of every orphaned process of the test run."""

    def shares_since_begin(self) -> dict[str, float]:
        return shares(ProcessorReading(*[0.0] * 6), ProcessorReading(1, 2, 2, 0, 0, 0))


@pytest.fixture
def environments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, str]]:
    monkeypatch.setattr(contest.subprocess, "Popen", Process)
    monkeypatch.setattr(measure, "RESULTS", tmp_path / "results")
    for benchmark in (training, recording):
        monkeypatch.setattr(benchmark, "Busy", Idle)
    monkeypatch.setattr(Process, "environments", [])
    return Process.environments


def test_all_that_train(environments: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python"  # of JoeyNMT, which has an interpreter of its own
    python.touch()
    training.run(multi30k=None, batch_tokens=1, batches=1, rounds=measure.MIN_ROUNDS, joeynmt=python)
    assert len(environments) == 3 + len(training.PEERS)
    assert all(one == environments[0] for one in environments)
    assert environments[0].items() >= worker_environment(contest.THREADS).items()
    printed, kept = capsys.readouterr().out, json.loads((tmp_path / "results" / "training.json").read_text())
    assert "; slower, " in printed and "; faster, " in printed and "of all processors" in printed
    assert kept["busy"]["seconds"] == 1 and all(len(one["interval"]) == 2 for one in kept["times"].values())


def test_all_that_record(environments: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(recording, "export", lambda *_: None)
    recording.run(lengths=[32], rounds=1)
    assert len(environments) == 4 and all(one == environments[0] for one in environments)


@pytest.mark.parametrize("name", [recording.PLAIN, recording.RECORDED, recording.SDPA, recording.ATTENTIONS])
def test_whoever_records_keeps_freed_memory(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    done: list[object] = []
    monkeypatch.setattr(recording, "retain_freed_memory", lambda: done.append("kept"))
    monkeypatch.setattr(recording.torch, "set_num_threads", done.append)
    monkeypatch.setattr(recording, "passes", lambda *_: lambda: done.append("pass"))
    _, functions = recording.contestant(name, Path(), 512)
    functions["round"]()
    assert done == [1, "kept", "pass"]
