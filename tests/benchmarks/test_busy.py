"""How busy a machine was: reckoned from two readings, and read of processes that are detached or long ended."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from benchmarks import __main__ as command
from benchmarks.busy import ProcessorReading, busy_text, shares

BURN = "import time\nwhile time.process_time() < {seconds}: pass"
# The process in the middle ends before the one that it started, which nobody waits for then.
MEASURED = f"""
import json, subprocess, sys, time
import benchmarks, psutil
from benchmarks.busy import Busy
busy = Busy()
burn = {BURN.format(seconds=0.5)!r}
middle = f"import subprocess; subprocess.Popen([{{sys.executable!r}}, '-c', {{burn!r}}], start_new_session=True)"
subprocess.run([sys.executable, "-c", middle], check=True)
print("begun", flush=True)
sys.stdin.readline()
while any(child.status() != psutil.STATUS_ZOMBIE for child in psutil.Process().children()):
    time.sleep(0.02)  # on a machine with other work it takes longer to end
print(json.dumps(busy.shares_since_begin()))
"""


def reading(**seconds: float) -> ProcessorReading:
    return ProcessorReading(**{**dict.fromkeys(ProcessorReading._fields, 0.0), **seconds})


def test_the_time_of_the_processors_is_shared_out() -> None:
    before = reading(clock=100, processors=1000, idle=500, stolen=10, contestants=3, load=0.44)
    after = reading(clock=200, processors=1200, idle=540, stolen=30, contestants=103, load=2.0)
    busy = shares(before, after)
    assert busy == {
        "seconds": 100, "load_before": 0.4, "load_after": 2.0, "contestants": 0.5, "others": 0.2, "stolen": 0.1,
    }  # fmt: skip
    told = busy_text(busy)
    assert "100 s the contestants used 50\u00a0%, other programs 20\u00a0%, other machines" in told
    assert "of the host 10\u00a0%; load 0.4 before, 2.0 after" in told


def test_a_tick_too_many_of_ours_is_nobody_elses() -> None:
    busy = shares(reading(), reading(clock=1, processors=2, idle=1, contestants=1.01))
    assert busy["others"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a detached process is lost")
def test_what_a_detached_process_took_is_ours_and_what_a_stranger_took_is_not() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", MEASURED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as measured:
        assert measured.stdin is not None and measured.stdout is not None
        assert measured.stdout.readline() == "begun\n"
        subprocess.run([sys.executable, "-c", BURN.format(seconds=1)], check=True)  # long enough for the other to end
        time.sleep(0.2)
        answer, _ = measured.communicate("\n")
    busy = json.loads(answer)
    processors = psutil.cpu_count() * busy["seconds"]
    # With both interpreters' own beginning, and less what rounding the clock and the ticks takes.
    assert 0.45 <= busy["contestants"] * processors < 1.4
    assert busy["others"] * processors > 0.7


def test_every_result_says_how_busy_the_machine_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = SimpleNamespace(
        add_arguments=lambda parser: parser.add_argument("--rounds", type=int),
        run=lambda rounds: {"rounds": rounds},
        report=lambda result: f"{result['rounds']} rounds",
    )
    monkeypatch.setattr(command, "import_module", lambda name: benchmark)
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    # Busy itself would become the parent of every orphaned process of the test run.
    idle = SimpleNamespace(shares_since_begin=lambda: shares(reading(), reading()))
    monkeypatch.setattr(command, "Busy", lambda: idle)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "memory", "--rounds", "7", "--name", "small"])
    command.main()
    written = json.loads((tmp_path / "small.json").read_text())
    assert (written["rounds"], written["busy"]["seconds"]) == (7, 0) and written["machine"]["cores"]
    printed = capsys.readouterr().out
    assert printed.startswith("7 rounds\n") and "Of the time of all processors" in printed
