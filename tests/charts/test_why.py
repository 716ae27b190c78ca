"""The pictures of the Why page say the numbers that they are given."""

from __future__ import annotations

import base64
import html
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from headlight.charts.document import Drawing, document, image, inline, text_element
from headlight.charts.why import BarGroup, Effect, Map, MapScale, bars, maps, shares, waterfall

HOSTILE = '<b onclick="x">&"'


def texts(drawing: Drawing) -> list[str]:
    """Return the texts of a picture; it must be XML, alone and as a document."""
    ElementTree.fromstring(document(drawing, HOSTILE, {HOSTILE: HOSTILE}, "dark"))
    tree = ElementTree.fromstring(inline(drawing))
    return [element.text or "" for element in tree.iter("{http://www.w3.org/2000/svg}text")]


def widths(drawing: Drawing) -> list[float]:
    tree = ElementTree.fromstring(inline(drawing))
    return [float(rect.attrib["width"]) for rect in tree.iter("{http://www.w3.org/2000/svg}rect")]


def test_bars_are_as_long_as_their_numbers() -> None:
    groups = [
        BarGroup("English", ["a", HOSTILE], np.array([0.25, 0.75]), np.array([0.2, 0.1]), np.array([1.5, -0.5])),
        BarGroup("so far", ["c"], np.array([1.0]), np.array([0.7]), None),
    ]
    drawing = shares(groups, ("attention", "contribution"), "light")
    written = texts(drawing)
    assert {"Σ 1.00", "Σ 0.30", "Σ 0.70", "1.50", "−0.50"} <= set(written)
    assert any(text.startswith("<b onclick") for text in written)
    a, a2, b, b2, _, c2 = widths(drawing)
    assert a / b == pytest.approx(1 / 3, abs=0.01) and a2 / b2 == pytest.approx(2, abs=0.02) and c2 > a2


def test_what_gives_next_to_nothing_is_one_row() -> None:
    values = np.array([1.0, 0.01, 0.02, 0.03])
    group = BarGroup("English", list("abcd"), values, values, np.zeros(4))
    few = texts(shares([group], ("x", "y"), "light", least=0.1))
    assert "3 others" in few and "b" not in few
    assert "b" in texts(shares([group], ("x", "y"), "light"))


def test_small_changes_have_digits() -> None:
    values = np.array([0.5, 0.5])
    small = BarGroup("English", ["a", "b"], values, values, np.array([0.0068, -0.0003]))
    assert {"0.0068", "−0.0003"} <= set(texts(shares([small], ("x", "y"), "light")))


def test_a_waterfall_ends_at_the_sum() -> None:
    effects = [Effect("up", 2.0, {"layer 1": 1.5, "layer 2": 0.5}), Effect("down", -0.75)]
    assert texts(waterfall(effects, "elle", "light"))[-1] == "+1.25"
    assert "+1.50" not in texts(waterfall(effects, "elle", "light"))
    assert "+1.50" in texts(waterfall(effects, "elle", "light", opened=True))


def test_a_map_has_every_number_and_outlines_what_is_chosen() -> None:
    grid = Map("Cross", np.array([[0.5, -0.25], [np.nan, 1.0]]), ["1", "2"], ["1", "2"], [["a", "b"], ["c", "d"]])
    drawing = maps([grid, grid], "dark", MapScale(1.0, ("0", "100 %"), percent=True), chosen=["d"])
    written = texts(drawing)
    assert [text for text in written if text in ("50", "−25", "–", "100")] == ["50", "−25", "–", "100"] * 2
    assert sum('stroke-width="2.5"' in element for element in drawing.elements) == 2
    assert "100: Cross 2, 2" in drawing.says
    narrow = maps([grid, grid], "dark", MapScale(1.0, ("0", "100 %")), across=130)
    assert narrow.size[0] < drawing.size[0] and narrow.size[1] > drawing.size[1]  # below each other


def test_a_bar_below_zero_is_empty() -> None:
    drawing = bars([("a", 0.5, "0.50"), ("b", -0.5, "−0.50")], "light")
    assert len(widths(drawing)) == 3  # two grounds and one bar
    assert texts(drawing) == ["a", "0.50", "b", "−0.50"]


def test_bars_without_room_beside_their_names_are_below_them() -> None:
    rows = [("norm-weighted", 0.32, "−0.32 ± 0.23  |  −0.37 ± 0.11"), ("ALTI+", 0.16, "0.16 ± 0.30  |  0.32 ± 0.13")]
    wide, narrow = bars(rows, "light"), bars(rows, "light", across=312)
    assert min(widths(narrow)) > 0 and narrow.size[1] > wide.size[1]
    ground, full, _, half = widths(narrow)
    assert (full / ground, half / full) == (pytest.approx(0.32, abs=0.01), pytest.approx(0.5, abs=0.01))


def test_an_image_brings_the_fonts_of_its_letters_and_says_what_it_shows() -> None:
    for text in (HOSTILE, "लड़की"):
        picture = image(Drawing([text_element((0, 9), text, "#000000")], (80, 12), HOSTILE), "wide")
        form = r'<img class="wide" src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)">'
        ((data, says),) = re.findall(form, picture)
        svg = base64.b64decode(data).decode()
        (element,) = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
        assert element.text == text and says == html.escape(HOSTILE)
        assert ("Noto Sans Devanagari" in svg.split("<g")[0]) == (text != HOSTILE)
