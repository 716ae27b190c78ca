"""Other systems: file names that every system can store, and commands without the modules that Windows lacks.

tests/without_posix takes away what is only POSIX, as far as that can be done on Linux; docs/platforms.md says what this
does not show.
"""

import asyncio
import os
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from io import BytesIO, TextIOWrapper
from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight import machine
from headlight.cli import main
from headlight.runs.folder import RunFolder
from tests.small_run import small_recipe
from tools.healthy import problem
from tools.serving import free_port

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = ROOT / "tests" / "without_posix"
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}
MAX_PATH_CHARACTERS = 150  # Windows allows 260 with the folder of the clone, unless its settings say otherwise


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return listed.decode("utf-8").rstrip("\0").split("\0")


def unfit(path: str) -> bool:
    """Return whether Windows stores no file of that name."""
    parts = path.split("/")
    return len(path) > MAX_PATH_CHARACTERS or any(
        re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part) or part.partition(".")[0].lower() in RESERVED for part in parts
    )


def test_every_file_has_a_name_that_every_system_stores() -> None:
    assert all(map(unfit, ("a/con.txt", "a:b", "what?", "end.", "a/" * 80)))
    paths = tracked()
    assert "headlight/machine.py" in paths and not list(filter(unfit, paths))
    folders = {str(parent) for path in paths for parent in Path(path).parents}
    times = Counter(name.casefold() for name in {*paths, *folders})
    assert not [name for name, count in times.items() if count > 1]  # one file, where case does not count


def test_every_text_file_is_opened_with_its_encoding() -> None:
    """Windows would take the code page of the country."""
    command = [Path(sys.executable).with_name("ruff"), "check", "--preview", "--select", "PLW1514"]
    ours = ["app.py", "headlight", "pages", "server", "tools", "transformer", "ui"]
    done = subprocess.run([*command, *ours], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    wrong = subprocess.run([*command, "-"], input="open('a.txt')\n", cwd=ROOT, capture_output=True, text=True)
    assert wrong.returncode == 1


def test_the_command_speaks_utf_8_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    for platform, encoding in (("linux", "cp1252"), ("win32", "utf-8")):
        streams = {name: TextIOWrapper(BytesIO(), encoding="cp1252") for name in ("stdin", "stdout", "stderr")}
        system = SimpleNamespace(platform=platform, **streams)
        monkeypatch.setattr(main, "sys", system)
        main._use_utf8()
        assert {stream.encoding for stream in streams.values()} == {encoding}


def test_the_peak_of_memory_is_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    here = machine.peak_memory()
    now = psutil.Process().memory_info().rss
    assert now / 2 < here < 100 * now
    monkeypatch.setattr(machine, "sys", SimpleNamespace(platform="darwin"))
    assert machine.peak_memory() * 1024 >= here  # macOS counts bytes, Linux kilobytes
    assert machine.peak_memory() < here / 512


def there() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(WITHOUT), str(ROOT)]), "OMP_NUM_THREADS": "1"}


def run(code: str, *arguments: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=there(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LOCKS = """
import sys
from headlight import machine
assert machine.fcntl is None and machine.msvcrt
with open(sys.argv[1], "ab") as first, open(sys.argv[1], "rb") as second:
    print(machine.lock(first), machine.lock(second))
    machine.unlock(first)
    print(machine.lock(second))
"""


def test_a_lock_holds_without_fcntl(tmp_path: Path) -> None:
    """A second lock is refused with PermissionError, as by msvcrt, until the first is released."""
    assert run(LOCKS, str(tmp_path / "lock"), folder=tmp_path).split() == ["True", "False", "True"]


@pytest.mark.slow
def test_every_module_can_be_imported_without_posix(tmp_path: Path) -> None:
    paths = [path for name in ("headlight", "server", "transformer") for path in (ROOT / name).rglob("*.py")]
    names = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths)
    names = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\nprint(len(sys.argv) - 1)"
    assert len(names) > 200 and run(code, *names, folder=tmp_path) == f"{len(names)}\n"


@pytest.mark.slow
def test_a_training_runs_and_resumes_without_posix(tmp_path: Path) -> None:
    """The worker, too, is such a process: it holds the lock, saves its checkpoints without links, and goes on."""
    out = tmp_path / "run"
    recipe = small_recipe(tmp_path, steps=4, checkpoint_every=2, evaluate_every=4)
    code = "import sys; from headlight.cli.verbs import main; out, *train = sys.argv[1:]\n"
    code += "assert main(train) == main(['resume', out, '--steps', '6']) == 0"
    run(code, str(out), *shlex.split(recipe.command(str(out)))[3:], folder=tmp_path)
    folder = RunFolder(out)
    assert folder.steps()[-1] == 6 and not folder.damaged() and folder.is_free()
    assert not [path for path in folder.checkpoints.iterdir() if path.is_symlink()]
    best = folder.best()
    assert best is not None and re.fullmatch(r"step-\d+", best.name)


@pytest.mark.slow
def test_the_app_translates_without_posix(tmp_path: Path, reverse_only: str) -> None:
    port = free_port()
    environment = {**there(), "PORT": str(port), "HEADLIGHT_RUNS": str(tmp_path), "HEADLIGHT_CHECKPOINTS": reverse_only}
    with (tmp_path / "log.txt").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "tools.production"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
    try:
        for _ in range(300):
            if (message := asyncio.run(problem(f"http://127.0.0.1:{port}", 10))) is None:
                break
            time.sleep(0.2)
        assert message is None, (tmp_path / "log.txt").read_text("utf-8")
    finally:
        server.terminate()
        server.wait(20)
