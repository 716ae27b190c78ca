"""Figures as files for paper: what is in them is what the figure was made of."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pypdf
import pytest
from PIL import Image

from headlight import charts
from headlight.charts.colours import THEMES, hexadecimal, lookup
from headlight.charts.positions import similarity
from headlight.charts.why import bars
from tests.small import small_translator

WEIGHTS = np.array([[0.1, 0.9, 0.0], [0.3, 0.2, 0.5]])
MASKED = np.array([[False, False, True], [False, False, False]])
ROWS, COLUMNS = ["eins", "zwei"], ["one", "two", "three"]


def fills(svg: str) -> list[str]:
    return re.findall(r'class="cells" fill="(#\w+)"', svg)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_pattern_has_its_cells_in_the_colours_of_its_theme(theme: str, tmp_path: Path) -> None:
    figure = charts.pattern(WEIGHTS, ROWS, COLUMNS, masked=MASKED, theme=theme, limit=0.9)
    figure.savefig(tmp_path / "pattern.svg", "Weights & words")
    svg = (tmp_path / "pattern.svg").read_text("utf-8")
    table = lookup(THEMES[theme].sequential)
    due = {hexadecimal(table[round(255 * value / 0.9)]) for value in WEIGHTS[~MASKED]}
    assert set(fills(svg)) == due and "Weights &amp; words" in svg and svg.count('class="masked"') == 1
    assert all(f">{label}<" in svg for label in (*ROWS, *COLUMNS))


def test_a_head_of_a_trace_is_a_pdf_and_a_png(tmp_path: Path) -> None:
    trace = small_translator().trace("two dogs")
    figure = charts.heatmap(trace, "cross", 2, 1)
    figure.savefig(tmp_path / "head.pdf")
    text = pypdf.PdfReader(io.BytesIO((tmp_path / "head.pdf").read_bytes())).pages[0].extract_text()
    assert "Cross attention, layer 2, head 1" in text
    assert all(label.strip("▁") in text for label in trace.columns("cross"))
    figure.savefig(str(tmp_path / "head.png"), "")
    assert Image.open(tmp_path / "head.png").format == "PNG"


def test_a_difference_is_signed(tmp_path: Path) -> None:
    charts.difference(WEIGHTS - 0.5, ROWS, COLUMNS).savefig(tmp_path / "difference.svg")
    svg = (tmp_path / "difference.svg").read_text("utf-8")
    table = lookup(THEMES["light"].diverging)
    ends = {hexadecimal(table[0]), hexadecimal(table[-1])}
    assert "change in weight, ±0.5" in svg and ends & set(fills(svg)) == {hexadecimal(table[0])}  # -0.5, and no +0.5


def test_a_drawing_of_why_is_saved_as_well(tmp_path: Path) -> None:
    bars([("ALTI", 0.5, "0.5")], "light").savefig(tmp_path / "bars.svg", "Agreement", {"Model": "small"})
    svg = (tmp_path / "bars.svg").read_text("utf-8")
    assert "Agreement" in svg and "Model: " in svg and ">ALTI<" in svg


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    figure = charts.pattern(WEIGHTS, ROWS, COLUMNS)
    with pytest.raises(ValueError, match=r"head.eps ends in no format of a picture; give a name in .svg, .pdf, .png"):
        figure.savefig(tmp_path / "head.eps")
    with pytest.raises(ValueError, match="There is no folder"):
        figure.savefig(tmp_path / "none" / "head.svg")
    with pytest.raises(ValueError, match="only heatmap, pattern and difference have a drawing for paper"):
        similarity({1: np.zeros(5)}, 4, nested=False).savefig(tmp_path / "similarity.png")
    assert not list(tmp_path.iterdir())
