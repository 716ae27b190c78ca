"""A confined process refuses to open named files, to use the network, and to start or change anything."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headlight import checkpoints
from headlight import tokenizer_json as foreign
from headlight.analysis.atlas import aligner
from headlight.corpora import multi30k, uploads
from headlight.corpora.corpora import modified_at, open_corpus, open_file
from headlight.corpora.files import lines
from headlight.corpora.hub import HubDataset, split_names
from headlight.corpora.uploads import save_upload
from headlight.importers.hub import fetch
from headlight.importers.importing import examine, import_model
from headlight.runs import delete, extend, kill, pause, resume, start, stop
from headlight.runs.estimate import measure
from headlight.runs.export import export
from headlight.tokenizer_json import trial
from tests.small_run import small_recipe
from transformer import access
from transformer.files import open_regular, read_json

ASKED: dict[str, Callable[[Path], object]] = {
    "two texts": lambda at: open_corpus(f"{at}/a,{at}/a"),
    "a table": lambda at: open_file(f"{at}/a.tsv"),
    "a folder of tables": lambda at: open_corpus(f"{at}:en-fr"),
    "a mixture with a file": lambda at: open_corpus(f"reverse + {at}/a.tsv*2"),
    "a mixture with a dataset": lambda at: open_corpus("reverse + hub:owner/name:en:fr"),
    "a dataset": lambda at: open_corpus("hub:owner/name:en:fr"),
    "its rows": lambda at: list(HubDataset("owner/name", "en", "fr")),
    "its splits": lambda at: split_names("owner/name"),
    "captions to fetch": lambda at: multi30k.fetch(at / "new", "val.en.gz", multi30k.DEFAULT_URL),
    "captions elsewhere": lambda at: open_corpus("multi30k:en-fr", folder=at),
    "lines": lambda at: list(lines(at / "a")),
    "times": lambda at: modified_at(str(at / "a")),
    "JSON": lambda at: read_json(at / "a"),
    "an upload": lambda at: save_upload(open(os.devnull, "rb"), "a", at),  # noqa: SIM115
    "a check": lambda at: uploads.check_corpus(f"{at}/a.tsv"),
    "a checkpoint": lambda at: checkpoints.load(at / "model"),
    "an examination": lambda at: examine(at / "model"),
    "an import": lambda at: import_model(at / "model", at / "out"),
    "a hub's model": lambda at: fetch("owner/name"),
    "a run": lambda at: start(small_recipe(at), at / "run"),
    "more of it": lambda at: resume(at / "run"),
    "longer": lambda at: extend(at / "run", 10),
    "a pause": lambda at: pause(at / "run"),
    "a stop": lambda at: stop(at / "run"),
    "an end": lambda at: kill(at / "run"),
    "a deletion": lambda at: delete(at / "run"),
    "a measurement": lambda at: measure(small_recipe(at)),
    "an export": lambda at: export(at / "run", at / "out"),
}


@pytest.fixture
def shown(small_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The one folder of a process that is confined, beside others."""
    monkeypatch.setattr(access, "_folders", None)  # and so again after the test
    (tmp_path / "shown").mkdir()
    (tmp_path / "a.json").write_text("[1]")
    (tmp_path / "shown" / "a.json").write_text("[2]")
    (tmp_path / "shown" / "link.json").symlink_to(tmp_path / "a.json")
    for folder in (tmp_path, tmp_path / "shown"):
        shutil.copytree(small_folder, folder / "model")
    access.confine([tmp_path / "shown"])
    return tmp_path / "shown"


@pytest.mark.parametrize("name", ASKED)
def test_whatever_asks_is_refused_in_the_same_words(shown: Path, name: str) -> None:
    for at in (shown.parent, shown.parent / "nowhere"):
        at.mkdir(exist_ok=True)
        with pytest.raises(ValueError) as refused:
            ASKED[name](at)
        assert access.REFUSAL in str(refused.value) and str(at) not in str(refused.value)
    assert not list(shown.parent.glob("*/new")) + list(shown.parent.glob("*/out"))


def test_its_own_folders_are_read(shown: Path) -> None:
    assert read_json(shown / "a.json") == [2]
    assert checkpoints.load(shown / "model").card["title"] == "Small"
    for path in (shown / "link.json", shown / ".." / "a.json", f"{shown}/model/../../a.json", "/proc/self/environ"):
        with pytest.raises(ValueError, match="public demonstration"):
            open_regular(path)


def test_no_library_starts_or_reaches_anything(shown: Path) -> None:
    with pytest.raises(PermissionError, match="public demonstration"):
        subprocess.run([sys.executable, "-c", ""], check=False)
    with pytest.raises(PermissionError, match="public demonstration"):
        os.system("true")
    with socket.socket() as one, pytest.raises(PermissionError, match="public demonstration"):
        one.connect(("127.0.0.1", 9))


def test_what_the_settings_name_is_reached_and_nothing_else_meanwhile(shown: Path) -> None:
    with socket.socket() as server, socket.socket() as one, socket.socket() as other:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with access.allow_network():
            one.connect(server.getsockname())
            with ThreadPoolExecutor(1) as threads, pytest.raises(PermissionError):
                threads.submit(other.connect, server.getsockname()).result()
            with pytest.raises(PermissionError):
                os.system("true")
        with pytest.raises(PermissionError):
            other.connect(server.getsockname())


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("allow_network(", {"access.py", "shared.py"}),  # the store of classes
        ("access import allow_command", {"trial.py"}),
        ("allow_command(", {"access.py", "trial.py"}),
    ],
)
def test_each_exception_is_used_in_one_place(code: str, names: set[str]) -> None:
    root = Path(access.__file__).parents[1]
    packages = ("transformer", "ui", "pages", "server", "headlight")
    files = [file for package in packages for file in (root / package).rglob("*.py")]
    assert {file.name for file in files if code in file.read_text()} == names


FOREIGN = {"model": {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.0], ["b", -2.0]], "unk_id": 0}}


def test_an_imported_tokenizer_is_tried_and_opened(shown: Path) -> None:
    trial._known_to_work.clear()
    assert foreign.opened(FOREIGN).encode("ab").ids == [1, 2]
    assert trial._known_to_work


def test_a_trial_that_cannot_begin_is_reported(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial._known_to_work.clear()
    monkeypatch.setattr(sys, "executable", str(shown / "python"))
    with pytest.raises(ValueError, match=r"no process could be started to try it in \(No such file or directory\); "):
        foreign.opened(FOREIGN)
    monkeypatch.setattr(trial, "allow_command", lambda command: ThreadPoolExecutor())  # as if it had no such right
    with pytest.raises(ValueError, match=r"no process could be started to try it in \(This is a public"):
        foreign.opened(FOREIGN)


@pytest.mark.slow
def test_nothing_else_starts_while_a_tokenizer_is_tried(
    shown: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused are the same command in another thread, another command in this thread, and the command afterwards."""
    child, began, go, command = tmp_path / "child.py", tmp_path / "began", tmp_path / "go", []
    waiting = f"while not os.path.exists({str(go)!r}): time.sleep(0.01)"
    child.write_text(f"import os, time\nopen({str(began)!r}, 'x').close()\n{waiting}\nprint('tried', end='')")
    monkeypatch.setattr(trial, "_CHILD", child)
    real = trial.allow_command
    monkeypatch.setattr(trial, "allow_command", lambda given: command.extend(given) or real(given))

    def refused(words: list[str]) -> None:
        with pytest.raises(PermissionError, match="public demonstration"):
            subprocess.run(words, check=False)

    with ThreadPoolExecutor(1) as pool:
        trying = pool.submit(trial._run_child, b"{}")
        while not began.exists() and not trying.done():
            time.sleep(0.01)
        refused(command)
        refused([sys.executable, "-c", ""])
        assert not trying.done()
        go.touch()
        assert trying.result() == ""
        pool.submit(refused, command).result()  # by the thread that tried

    with real(command):
        for words in ([*command, "more"], command[:-1], [sys.executable, "-c", ""]):
            refused(words)
        with pytest.raises(PermissionError, match="public demonstration"):
            subprocess.run(command, executable="/bin/true", check=False)
        with pytest.raises(PermissionError, match="public demonstration"):
            os.posix_spawn(command[0], command, {})
        with pytest.raises(PermissionError, match="public demonstration"):
            os.system("true")


def test_an_aligner_with_a_program_of_its_own_counts_as_absent(shown: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligner, "find_spec", lambda name: object())
    assert not aligner.installed()
    monkeypatch.setattr(access, "_folders", None)
    assert aligner.installed()


def test_who_is_not_confined_may_do_all(tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert [pair.source for pair in open_file(str(tmp_path / "a.tsv"))] == ["a"]
