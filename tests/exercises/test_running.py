"""A student's file in its own process: whatever it does, there is an answer."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headlight.cli.verbs import main
from headlight.teaching.exercises import EXERCISES, FOLDER, Verdict, check, child, progress
from headlight.teaching.exercises.exercise import MESSAGES_FILE, ExerciseState
from tests.exercises import solutions


def write_file(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_file_with_every_solution_is_right_and_the_exit_status_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write_file(tmp_path, Path(solutions.__file__).read_text(encoding="utf-8"))
    assert main(["check", str(path)]) == 0
    out = capfd.readouterr()
    assert out.out.count(": right\n") == len(EXERCISES) and "\nThat was the last exercise. Well done." in out.out
    assert out.err == ""


@pytest.mark.slow
def test_what_ends_the_process_ends_one_exercise(tmp_path: Path) -> None:
    """An endless loop, an exit, one that cannot be caught, and what calls a stub in another file of the folder."""
    write_file(tmp_path, (FOLDER / "attend.py").read_text(encoding="utf-8"), "attend.py")
    path = write_file(
        tmp_path,
        "import os, sys\n"
        "from torch import nn\n"
        "from attend import attend\n"
        "def noam(step, d_model, warmup):\n"
        "    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)\n"
        "def positions(length, d_model):\n"
        "    while True:\n"
        "        length += 1\n"
        "def greedy(next_log_probs, sos_id, eos_id, max_length):\n"
        "    os._exit(0)\n"
        "def look_ahead_mask(length):\n"
        "    sys.exit(1)\n"
        "def padding_mask(ids, pad_id):\n"
        "    return attend(ids, ids, ids)\n"
        "def target_mask(ids, pad_id):\n"
        "    return input()\n",
    )
    verdicts = {verdict.name: verdict for verdict in check(path, seconds=2)}
    messages = {name: " ".join(verdict.messages) for name, verdict in verdicts.items()}
    assert verdicts["noam"].state is ExerciseState.RIGHT
    assert messages["positions"].startswith("It took longer than 2 seconds: does a loop never end?")
    assert "it was at line 7, in positions" in messages["positions"] or "line 8, in positions" in messages["positions"]
    assert messages["greedy"] == "It ended the process; leave out what exits."
    assert "mine.py, line 12, in look_ahead_mask: sys.exit(1) It ends the program" in messages["look_ahead_mask"]
    assert messages["padding_mask"] == "It calls `attend`, which is not written yet. Write that first."
    assert "EOFError" in messages["target_mask"]
    assert "attend" not in verdicts  # which another file defines
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def attend(q, k, v:\n    pass\n", ["'mine.py' does not run", "mine.py, line 1", "never closed"]),
        ("import nowhere\n", ["mine.py, line 1, in <module>: import nowhere", "ModuleNotFoundError"]),
        ("raise SystemExit(0)\n", ["mine.py, line 1", "It ends the program"]),
        ("x = 1\n", ["has none of the exercises: `attend`, "]),
        ("from tests.exercises.solutions import attend\n", ["has none of the exercises"]),
        ("def Attend(q, k, v): ...\n", ["Is `Attend` meant to be `attend`?"]),
    ],
)
def test_a_file_that_does_not_get_so_far_is_refused(
    tmp_path: Path, text: str, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (message,) = judged_here(write_file(tmp_path, text), monkeypatch)
    assert [word for word in words if word not in message["refused"]] == []


def judged_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Judge a file in this process, which is faster than starting one."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    child.main(path, path.parent, 60, [])
    return [json.loads(line) for line in (path.parent / MESSAGES_FILE).read_text(encoding="utf-8").splitlines()]


def notebook(folder: Path, *cells: str, kind: str = "code") -> Path:
    content = {"cells": [{"cell_type": kind, "source": cell.splitlines(keepends=True)} for cell in cells]}
    return write_file(folder, json.dumps(content), "mine.ipynb")


NOAM = "def noam(step, d_model, warmup):\n    return d_model ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)\n"


def test_a_notebooks_cells_are_judged_without_their_magics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell that fails keeps none of the others from being judged, and its error names cell and line."""
    cells = ["%matplotlib inline\n!pip install torch\nimport math\n", "%%bash\nls | wc\n", f"%%time\n{NOAM}"]
    cells += [
        "x = (7\n     % 4)\nnoam?\n",
        "plot = 1\nplot.show()\n",
        "assert x == 3\ndef positions(length, d_model):\n",
    ]
    messages = judged_here(notebook(tmp_path, *cells[:5], f"{cells[5]}    return nothing\n"), monkeypatch)
    verdicts = {each["verdict"]["name"]: each["verdict"] for each in messages if "verdict" in each}
    assert verdicts["noam"]["state"] == "right"
    assert verdicts["positions"]["messages"][0] == "mine.ipynb, cell 6, line 3, in positions: return nothing"
    out = capsys.readouterr().out
    assert "mine.ipynb, cell 5, line 2, in <module>: plot.show()" in out and "AttributeError" in out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "has no list of cells"),
        ("{", "is not a notebook that can be read"),
        ('{"cells": [1, {"cell_type": "code", "source": 3}, {"cell_type": "code"}]}', "has none of the exercises"),
        (json.dumps({"cells": [{"cell_type": "markdown", "source": [NOAM]}]}), "has none of the exercises"),
        (json.dumps({"cells": [{"cell_type": "code", "source": "def noam(:"}]}), "mine.ipynb, cell 1, line 1: "),
    ],
)
def test_a_notebook_without_exercises_is_refused(
    tmp_path: Path, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (message,) = judged_here(write_file(tmp_path, text, "mine.ipynb"), monkeypatch)
    assert words in message["refused"]


def test_names_of_tutorials_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def scaled_dot_product_attention(q, k, v, mask=None):\n    raise NotImplementedError\n"
    _, message, _ = judged_here(write_file(tmp_path, text), monkeypatch)
    assert message["verdict"]["name"] == "attend"
    assert "other exercises import it as `attend`" in message["verdict"]["messages"][-1]


def test_next_is_what_is_undone_and_the_third_try_names_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_file(tmp_path, "")
    states = {"attend": ExerciseState.WRONG, "MultiHeadAttention": ExerciseState.RIGHT}

    def checked(*names: str) -> str:
        verdicts = [Verdict(name, states.get(name, ExerciseState.RIGHT), ("Words.",)) for name in names]
        monkeypatch.setattr("headlight.cli.teaching.judged", lambda _: verdicts)
        main(["check", str(path)])
        return capsys.readouterr().out

    assert checked("MultiHeadAttention").endswith("Next: attend, in docs/exercises/attend.py\n")
    assert "To compare" not in checked("attend") + checked("attend")
    assert "Try 3. To compare: ours is attend in transformer/attention.py." in checked("attend")
    states["attend"] = ExerciseState.RIGHT
    assert checked("attend").endswith("Next: positions, in docs/exercises/positions.py\n")
    assert checked(*list(EXERCISES)[3:]).endswith("Next: positions, in docs/exercises/positions.py\n")
    assert "That was the last exercise" in checked("positions")
    content = '{"right": [3, "positions"], "tries": {"attend": "many"}}'
    (tmp_path / progress.PROGRESS_FILE).write_text(content, encoding="utf-8")
    assert progress.read(tmp_path, EXERCISES) == progress.Progress({"positions"}, {})


@pytest.mark.slow
def test_a_file_that_never_gets_to_its_exercises_is_refused(tmp_path: Path) -> None:
    path = write_file(tmp_path, "def attend(q, k, v): ...\nwhile True: pass\n")
    with pytest.raises(ValueError, match="did not get to its exercises. It took longer than 1 seconds.* at line 2"):
        check(path, seconds=1)


def test_a_file_that_ends_the_process_before_its_exercises_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with `os._exit(0)` at its top ends silently with status 0."""
    monkeypatch.setattr("subprocess.run", lambda command, **_: subprocess.CompletedProcess(command, 0))
    with pytest.raises(ValueError, match="did not get to its exercises. It ended the process; leave out what exits."):
        check(write_file(tmp_path, "import os; os._exit(0)\n"))


def test_a_server_that_strangers_reach_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.access._folders", (tmp_path,))
    with pytest.raises(ValueError, match="public demonstration"):
        check(write_file(tmp_path, "def attend(): ...\n"))


def test_what_is_no_script_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.py")]) == 1
    assert "none.py is not a file" in capsys.readouterr().err
