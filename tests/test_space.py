"""The folder of a Hugging Face Space: its files, and that the hub and the app accept it.

tests/test_public_server.py starts the app from such a folder.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.access import access
from server.headers import policy
from tools import space

ROOT = Path(__file__).resolve().parents[1]
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}  # that the hub offers
OURS = {"README.md", "Dockerfile", ".dockerignore", ".gitattributes"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("space")
    space.build(folder)
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def settings(container: str) -> dict[str, str]:
    """Return the environment variables that a container file sets; the last value of a name counts."""
    lines = container.replace("\\\n", " ").splitlines()
    pairs = [pair for line in lines if line.startswith("ENV ") for pair in line.split()[1:]]
    return dict(pair.split("=", 1) for pair in pairs)


def front_matter(folder: Path) -> dict[str, Any]:
    _, head, _ = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    given: dict[str, Any] = yaml.safe_load(head)
    return given


def test_it_has_what_the_container_needs_and_nothing_else(folder: Path) -> None:
    """The folder has only files that git tracks: no runs, caches or models of whoever builds it."""
    assert files(folder) == {*space.needed(), *OURS}
    rooms = {name.partition("/")[0] for name in files(folder)}
    assert {"app.py", "pages", "ui", "headlight", "transformer", "checkpoints", "requirements"} <= rooms
    assert not {"tests", "benchmarks", "runs", "models", "classes", ".git"} & rooms
    lines = [line for line in space.IGNORED.read_text("utf-8").splitlines() if line.startswith("!")]
    for line in lines:  # none names what is no longer there
        assert any(name == line[1:] or name.startswith(f"{line[1:]}/") for name in files(folder)), line


def imported(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with a module that it imports."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((path, name.name) for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield path, node.module
                yield from ((path, f"{node.module}.{name.name}") for name in node.names)


@pytest.mark.slow
def test_all_that_is_imported_is_there(folder: Path) -> None:
    """Every imported module of the repository is in the folder."""
    missing = set()
    for module, path in {module: path for path, module in imported(folder)}.items():
        place = module.replace(".", "/")
        for name in (f"{place}.py", f"{place}/__init__.py"):
            if (ROOT / name).exists() and not (folder / name).exists():
                missing.add((path.relative_to(folder).as_posix(), name))
    assert missing == set()


def test_the_hub_takes_every_file(folder: Path) -> None:
    """Binary and large files go by LFS; the hub refuses them otherwise."""
    lines = (folder / ".gitattributes").read_text("utf-8").splitlines()
    patterns = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert all(line.split()[1:] == ["filter=lfs", "diff=lfs", "merge=lfs", "-text"] for line in lines[1:])
    for name in files(folder):
        by_lfs = any(fnmatch(Path(name).name, pattern) for pattern in patterns)
        content = (folder / name).read_bytes()
        assert by_lfs == (b"\0" in content), name
        assert by_lfs or len(content) < 10 * 2**20, name


def test_the_front_matter_is_that_of_the_container(folder: Path) -> None:
    given, container = front_matter(folder), (folder / "Dockerfile").read_text("utf-8")
    assert given["sdk"] == "docker"
    assert str(given["app_port"]) == settings(container)["PORT"]
    assert f"EXPOSE {given['app_port']}\n" in container
    assert {given["colorFrom"], given["colorTo"]} <= COLOURS
    assert given["license"] == "mit" and (folder / "LICENSE").read_text("utf-8").startswith("MIT")
    assert len(given["short_description"]) <= 60
    assert "--uid 1000" in container and re.search(r"^USER (?!root)", container, re.MULTILINE)
    for copied in re.findall(r"^COPY (.+) \./$", container, re.MULTILINE):
        assert {*copied.split()} <= files(folder)


def test_a_space_answers_to_the_hub_in_its_frame_and_to_nobody_else(folder: Path) -> None:
    given = settings((folder / "Dockerfile").read_text("utf-8"))
    assert given["HEADLIGHT_PUBLIC"] == "1"
    answers = access(given["HOST"], given, [], public=True)
    assert answers.allows("me-headlight.hf.space") and not answers.allows("headlight.example")
    assert "frame-ancestors 'self' https://huggingface.co" in policy(given["HEADLIGHT_FRAME_ANCESTORS"])
    plain = settings((ROOT / "deploy" / "Dockerfile").read_text("utf-8"))
    assert not {"HEADLIGHT_PUBLIC", "HEADLIGHT_HOSTS", "HEADLIGHT_FRAME_ANCESTORS"} & plain.keys()


def test_all_that_is_written_is_in_the_one_volume(folder: Path) -> None:
    container = (folder / "Dockerfile").read_text("utf-8")
    assert re.findall(r"^VOLUME (.+)$", container, re.MULTILINE) == ["/data"]
    kept = {f"HEADLIGHT_{name}" for name in ("RUNS", "MODELS", "CLASSES", "MULTI30K", "TATOEBA")} | {"HF_HOME"}
    given = settings(container)
    assert all(given[name].startswith("/data/") for name in kept)


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    (tmp_path / ".gitattributes").write_text("*.pdf binary\n")  # as many a repository has
    with pytest.raises(ValueError, match="holds something else"):
        space.build(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "all of it"


def test_a_folder_that_was_pushed_is_made_anew_and_keeps_its_history(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    space.build(tmp_path)
    (tmp_path / "ui" / "gone_since.py").write_text("")
    space.build(tmp_path)
    assert files(tmp_path) == {*files(folder), ".git/HEAD"}
