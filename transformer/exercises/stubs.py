"""The files that students fill in."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "exercises"


def stub(file: str) -> str:
    """The text of an exercise's file, such as "attend.py"."""
    return (FOLDER / file).read_text(encoding="utf-8")
