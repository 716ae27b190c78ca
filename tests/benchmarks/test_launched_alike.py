"""No contestant is launched with what another has not: threads, and whether freed memory is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import contest, measure, recording, training
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


@pytest.fixture
def environments(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    monkeypatch.setattr(contest.subprocess, "Popen", Process)
    monkeypatch.setattr(Process, "environments", [])
    return Process.environments


def test_all_that_train(environments: list[dict[str, str]], tmp_path: Path) -> None:
    python = tmp_path / "python"  # of JoeyNMT, which has an interpreter of its own
    python.touch()
    result = training.run(multi30k=None, batch_tokens=1, batches=1, rounds=measure.MIN_ROUNDS, joeynmt=python)
    assert len(environments) == 3 + len(training.PEERS)
    assert all(one == environments[0] for one in environments)
    assert environments[0].items() >= worker_environment(contest.THREADS).items()
    report = training.report(result)
    assert "; slower, " in report and "; faster, " in report
    assert all(len(one["interval"]) == 2 for one in result["times"].values())


def test_all_that_record(environments: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
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
