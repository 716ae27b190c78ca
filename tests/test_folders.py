"""Where models and runs lie, and what a name alone means."""

import subprocess
import sys
from pathlib import Path

import pytest

from headlight import folders
from headlight.checkpoints import load_translator

ROOT = Path(__file__).resolve().parents[1]


def test_in_a_clone_all_lies_beside_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHECKPOINTS", "RUNS", "MODELS", "CLASSES"):
        monkeypatch.delenv(f"HEADLIGHT_{name}", raising=False)
    assert [folders.checkpoints(), folders.runs(), folders.models(), folders.classes()] == [
        ROOT / name for name in ("checkpoints", "runs", "models", "classes")
    ]


def test_classes_lie_beside_the_runs_unless_said_otherwise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADLIGHT_CLASSES", raising=False)
    monkeypatch.setenv("HEADLIGHT_RUNS", str(tmp_path / "runs"))
    assert folders.classes() == tmp_path / "classes"
    monkeypatch.setenv("HEADLIGHT_CLASSES", str(tmp_path / "elsewhere"))
    assert folders.classes() == tmp_path / "elsewhere"


def test_of_an_installed_package_what_a_user_makes_is_the_users(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "headlight"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "folders.py").write_bytes((ROOT / "headlight" / "folders.py").read_bytes())
    code = "from headlight import folders as f; print(f.checkpoints(), f.runs(), f.models(), f.classes(), sep='\\n')"
    environment = {"PYTHONPATH": str(package.parent), "XDG_DATA_HOME": str(tmp_path / "share")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    own = tmp_path / "share" / "headlight"
    shipped = package.parent / "headlight" / "app" / "checkpoints"
    assert done.stdout.splitlines() == [str(path) for path in (shipped, own / "runs", own / "models", own / "classes")]


def test_a_name_alone_is_a_model_that_ships(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_translator("reverse").translate("abc").text == "cba"
    assert folders.model("checkpoints/reverse") == ROOT / "checkpoints" / "reverse"
    (tmp_path / "reverse").mkdir()
    assert folders.model("reverse") == Path("reverse")  # what is there comes first


@pytest.mark.parametrize("name", ["nothing", "../checkpoints/reverse", "", "/reverse", "models/../reverse", "models"])
def test_other_names_stay_what_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders.model(name) == Path(name)


def test_a_lesson_goes_by_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders.lesson(Path("it")) == folders.lesson(Path("it.md")) == ROOT / "lessons" / "en" / "it.md"
    assert folders.lesson(Path("mine")) == Path("mine") and folders.lesson(Path("a/it")) == Path("a/it")


def test_what_an_installed_command_writes_is_where_the_app_finds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert folders.written("runs/mine") == Path("runs/mine")  # in a clone
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(folders, "CLONE", False)
    monkeypatch.setenv("HEADLIGHT_RUNS", str(tmp_path / "own"))
    assert folders.written("runs/mine") == tmp_path / "own" / "mine"
    for path in ("mine", "runs", "runs/../x", "./elsewhere/runs", str(tmp_path / "runs" / "x")):
        assert folders.written(path) == Path(path)
    (tmp_path / "runs").mkdir()
    assert folders.written("runs/mine") == Path("runs/mine")  # the folder here is meant
