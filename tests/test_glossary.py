"""No text of the app uses a phrase that the glossary lists under "not"."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("pages", "server", "transformer", "headlight", "ui")


def avoided() -> list[str]:
    """The phrases of more than one word in the last column; a single word may be right elsewhere."""
    rows = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    cells = [row.rstrip("|").rpartition("|")[2] for row in rows if row.startswith("|")]
    phrases = [phrase.partition("(")[0].strip() for cell in cells for phrase in cell.split(",")]
    return sorted({phrase for phrase in phrases if " " in phrase})


def texts(file: Path) -> Iterator[str]:
    """The strings of a file that are not docstrings."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        inside = [child for child in ast.iter_child_nodes(node) if not isinstance(node, ast.Expr)]
        yield from (c.value for c in inside if isinstance(c, ast.Constant) and isinstance(c.value, str))


def test_the_glossary_names_what_is_avoided() -> None:
    assert {"cross attention", "last norm", "same place", "together so far"} <= {*avoided()}


@pytest.mark.slow
@pytest.mark.parametrize("room", ROOMS)
def test_no_text_uses_a_phrase_that_the_glossary_avoids(room: str) -> None:
    phrases = avoided()
    uses = [
        (file.relative_to(ROOT), phrase)
        for file in sorted((ROOT / room).rglob("*.py"))
        for text in texts(file)
        for phrase in phrases
        if phrase in text.lower()
    ]
    assert not uses
