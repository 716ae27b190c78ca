"""A forked process does not depend on what the main module of the tests is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.forked import forked


def _write(path: Path) -> None:
    path.write_text("started")


def test_a_process_starts_after_an_app_test_has_left_its_script_as_the_main_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    (tmp_path / "script.py").write_text("raise RuntimeError")
    monkeypatch.setitem(sys.modules, "__main__", script)
    process = forked(_write, tmp_path / "started.txt")
    process.join(60)
    assert process.exitcode == 0
    assert (tmp_path / "started.txt").read_text() == "started"
    assert sys.modules["__main__"] is script
