"""transformer/README.md names code and tests that exist, and every file of the package."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "transformer" / "README.md").read_text("utf-8")
ROWS = [line.strip("|").split("|") for line in TEXT.splitlines() if line.startswith("| ") and "`" in line]
NAMES = re.compile(r"`([\w/]+\.py)`(?: `(\w+)`)?")


def defined(path: Path) -> set[str]:
    """The functions and classes of a file."""
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, kinds)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip()[:40])
def test_each_line_names_code_and_a_test(row: list[str]) -> None:
    what, code, compared = row
    for file, name in NAMES.findall(code):
        assert name in defined(ROOT / "transformer" / file)
    assert NAMES.search(code)
    ((file, name),) = NAMES.findall(compared)
    assert name in defined(ROOT / file)


def test_every_file_is_named() -> None:
    folder = ROOT / "transformer"
    files = {path for path in folder.rglob("*.py") if path.name != "__init__.py"}
    unnamed = {path for path in files if f"`{path.relative_to(folder)}`" not in TEXT}
    of_a_named_package = {path for path in unnamed if path.parent != folder}
    assert unnamed == of_a_named_package
    assert {path.parent.name for path in of_a_named_package} <= {
        "checkpoint", "decoding", "inference", "t5", "training",
    }


def test_it_can_be_read_in_an_afternoon() -> None:
    files = list((ROOT / "transformer").rglob("*.py"))
    assert len(files) <= 45 and sum(len(path.read_text("utf-8").splitlines()) for path in files) <= 6000


def test_its_names_and_modules_are_there_without_importing_them_one_by_one() -> None:
    script = "import transformer as t; print(t.taps.Site.__name__, t.load.__name__, hasattr(t, 'no_such_name'))"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "Site load False\n"
