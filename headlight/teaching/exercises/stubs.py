"""The files that students fill in."""

from __future__ import annotations

from headlight.folders import EXERCISES as FOLDER


def stub(file: str) -> str:
    """The text of an exercise's file, such as "attend.py"."""
    return (FOLDER / file).read_text(encoding="utf-8")
