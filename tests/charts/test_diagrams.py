"""The diagrams of norms: well-formed, the numbers that each norm looks along, and what a residual connection passes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from headlight.charts.colours import THEMES
from headlight.charts.diagrams import norm_cubes, norm_places
from headlight.charts.document import Drawing, inline


def elements(drawing: Drawing, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(inline(drawing)).findall(f"{{http://www.w3.org/2000/svg}}{tag}")


@pytest.mark.parametrize("theme", THEMES)
def test_layer_norm_fills_a_row_and_batch_norm_a_column_of_all_sentences(theme: str) -> None:
    """On the three visible faces: 8 numbers and the side of the last; 4 tokens and 3 sentences on top."""
    accent = THEMES[theme].accent
    filled = [[p for p in elements(cube, "polygon") if p.get("fill") == accent] for cube in norm_cubes(theme)]
    assert [len(cells) for cells in filled] == [8 + 1, 4 + 3]
    assert all(len(elements(cube, "polygon")) == 8 * 4 + 8 * 3 + 4 * 3 for cube in norm_cubes(theme))
    tops = {cell.get("points", "").split()[0].split(",")[1] for cell in filled[0][:8]}
    assert len(tops) == 1  # one row


def test_the_residual_connection_ends_at_the_sum() -> None:
    for drawing, last in zip(norm_places("light"), ("+", "norm"), strict=True):
        assert drawing.size[0] <= 340  # readable on a phone
        words = [text.text for text in elements(drawing, "text")]
        assert words[-1] == last and set(words) > {"x", "y", "norm", "block", "+"}
        (total,) = (text for text in elements(drawing, "text") if text.text == "+")
        accent = THEMES["light"].accent
        (way,) = (path for path in elements(drawing, "path") if path.get("stroke") == accent)
        assert f"H{float(total.get('x', '')):g}" in way.get("d", "").replace(".0V", "V")
    pre, post = (drawing.says for drawing in norm_places("light"))
    assert "passes no norm" in pre and "y = x + block(norm(x))" in pre
    assert "passes the norm" in post and "y = norm(x + block(x))" in post
