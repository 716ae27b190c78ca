"""Imports run one way: the contracts of pyproject.toml, and what import-linter cannot say since pages are scripts."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("transformer", "headlight", "ui", "server", "tools")
SHARED = {"state", "widgets", "viewer"}  # the folders of ui/ that every page may use
# All that the state may use of streamlit: it draws nothing, but that something is waited for.
OF_STATE = {"session_state", "query_params", "cache_data", "cache_resource", "spinner"}
GUARDED = ("headlight/cli/main.py", "server/process.py", "ui/state/process.py")  # may not import tools
# One import that each contract forbids.
FORBIDDEN = {
    "tools, ui and server use the instrument": ("headlight/folders.py", "import ui.state.view"),
    "ui shares with the server only": ("ui/state/view.py", "from server import login"),
    "inside transformer": ("transformer/layers.py", "from transformer import translator"),
    "inside headlight": ("headlight/analysis/measures.py", "def late():\n    import headlight.runs.worker"),
    "inside server": ("server/access.py", "from server import login"),
    "a page's folder is used by that page alone": ("ui/heads/body.py", "from ui.training.view import TrainingView"),
    "the library draws nothing": ("server/classroom/store.py", "import streamlit as st"),
    "what answers requests": ("headlight/charts/heatmap.py", "import torch.nn"),
    "charts are made of arrays": ("headlight/charts/heatmap.py", "from transformer.trace import Trace"),
}


def lint(folder: Path) -> tuple[list[str], str]:
    """Run import-linter on the packages in `folder`; return each contract with KEPT or BROKEN, and its output."""
    command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": "."}, capture_output=True, text=True)
    verdicts = [line.rstrip() for line in done.stdout.splitlines() if line.rstrip().endswith((" KEPT", " BROKEN"))]
    assert (done.returncode == 0) == all(line.endswith("KEPT") for line in verdicts), done.stdout + done.stderr
    return verdicts, done.stdout


def test_every_contract_is_kept() -> None:
    verdicts, _ = lint(ROOT)
    assert len(verdicts) == len(FORBIDDEN) and all(line.endswith(" KEPT") for line in verdicts), "run lint-imports"


def test_every_contract_can_be_broken(tmp_path: Path) -> None:
    """Tools has no __init__.py, so import-linter must be shown to find its modules, in every package that it guards."""
    ignored = shutil.ignore_patterns("__pycache__", "js", "*.json")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for file, line in [*FORBIDDEN.values(), *((file, "from tools import production") for file in GUARDED)]:
        with open(tmp_path / file, "a") as opened:
            opened.write(f"\n{line}\n")
    verdicts, said = lint(tmp_path)
    assert all(line.endswith(" BROKEN") for line in verdicts)
    for file in GUARDED:
        assert f"{file.removesuffix('.py').replace('/', '.')} -> tools.production" in said


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Yield each module that is imported anywhere in `source`; `from a import b` gives "a.b"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(filter(None, [package if node.level else "", node.module]))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def forbidden_in_a_page(source: str) -> list[str]:
    """Return what a page may not import: torch, entry points, other pages, and the folders of two pages in `ui`."""
    modules = list(imported_modules(source, "pages"))
    folders = {module.split(".")[1] for module in modules if module.startswith("ui.")} - SHARED
    above = [module for module in modules if module.split(".")[0] in ("torch", "app", "pages")]
    return above + sorted(folders) * (len(folders) > 1)


@pytest.mark.parametrize("page", sorted((ROOT / "pages").glob("*.py")), ids=lambda page: page.stem)
def test_a_page_uses_its_own_folder_and_no_torch(page: Path) -> None:
    assert forbidden_in_a_page(page.read_text()) == []


@pytest.mark.parametrize(
    "line", ["import torch", "from app import main", "from ui import attention, heads", "from . import why"]
)
def test_a_page_may_not_import_this(line: str) -> None:
    assert forbidden_in_a_page(line)


def streamlit_uses(source: str) -> set[str]:
    """The names of streamlit that `source` uses as `st.name`."""
    nodes = ast.walk(ast.parse(source))
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st"
    }


@pytest.mark.parametrize("file", sorted((ROOT / "ui" / "state").glob("*.py")), ids=lambda file: file.stem)
def test_the_state_draws_nothing(file: Path) -> None:
    assert streamlit_uses(file.read_text()) <= OF_STATE
    assert streamlit_uses(file.read_text() + "\nst.caption('Waiting')\n") - OF_STATE
