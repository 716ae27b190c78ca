"""The figure of many heads: what is drawn where, what is written, and what is said where something is not."""

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from headlight.charts import frame
from headlight.charts.colours import THEMES, lookup
from headlight.charts.document import Drawing, document, fonts_of, inline
from headlight.charts.svg import Colours, HeadBlock, block_drawing, patterns_svg, strongest

SVG = "{http://www.w3.org/2000/svg}"


def block(layers: int = 1, heads: int = 1, queries: int = 3, keys: int = 4, seed: int = 0) -> HeadBlock:
    weights = np.random.default_rng(seed).random((layers, heads, queries, keys)).astype(np.float32)
    rows, columns = [f"row{q}" for q in range(queries)], [f"key{k}" for k in range(keys)]
    masked = np.triu(np.ones((queries, keys), bool), 2)
    return HeadBlock("Some attention", np.where(masked, 0, weights), rows, columns, masked)


def drawn(*blocks: HeadBlock, **options: Any) -> ElementTree.Element:
    return ElementTree.fromstring(patterns_svg(blocks, title="Heads", facts={"Model": "small"}, **options))


def cells(root: ElementTree.Element) -> dict[tuple[float, float], str]:
    """The colour of each cell at its place; no place twice."""
    colours: dict[tuple[float, float], str] = {}
    for path in root.iter(f"{SVG}path"):
        if path.get("class") == "cells":
            for x, y, across, side in re.findall(r"M([\d.]+) ([\d.]+)h(\d+)v(\d+)", path.get("d", "")):
                for step in range(int(across) // int(side)):
                    place = float(x) + step * int(side), float(y)
                    assert place not in colours
                    colours[place] = path.get("fill", "")
    return colours


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("scale", ["fixed", "row", "sqrt"])
def test_each_cell_is_drawn_once_in_its_colour(scale: str) -> None:
    given = block(2, 3)
    table = ["#" + "".join(f"{c:02x}" for c in colour) for colour in lookup(THEMES["light"].sequential).tolist()]
    shown = {"fixed": lambda w: w, "sqrt": np.sqrt, "row": lambda w: w / w.max(-1, keepdims=True)}[scale](given.weights)
    colours = iter([table[round(255 * float(w))] for w in shown[:, :, ~given.masked].ravel()])
    cell_colours = cells(drawn(given, colours=Colours(scale)))
    assert len(cell_colours) == 6 * (~given.masked).sum()
    # In the order of layers, heads, queries and keys: layers below each other, heads side by side.
    columns = sorted({x for x, _ in cell_colours})
    rows = sorted({y for _, y in cell_colours})
    for layer in range(2):
        for head in range(3):
            for q, k in np.argwhere(~given.masked):
                assert cell_colours[columns[head * 4 + k], rows[layer * 3 + q]] == next(colours)


def test_everything_is_written_and_inside_the_picture() -> None:
    """A long title and a long sentence are broken into lines, so that nothing runs out of the picture."""
    sentence = "a very long sentence " * 12
    drawing = patterns_svg([block()], title="T" * 90, facts={"Model": "m", "English": sentence})
    root = ElementTree.fromstring(drawing)
    written = texts(root)
    assert " ".join(written).count("a very long sentence") + " ".join(written).count("a very long\n") <= 12
    assert "".join("".join(written).split()).count("averylongsentence") == 12
    assert max(len(text) for text in written) * 13 * 0.52 < float(root.get("width", 0)) + 1
    assert {"Model: m", "token that looks (query)", "looks at (key)", "weight, 0 to 1", "0", "0.5", "1"} < set(written)
    assert {"row0", "row2", "key0", "key3", "masked: this key comes later"} < set(written)
    assert root.findtext(f"{SVG}title") == "T" * 90 and sentence.strip() in (root.findtext(f"{SVG}desc") or "")


def test_blocks_layers_and_heads_are_named() -> None:
    written = texts(drawn(block(2, 3), replace(block(1, 2), name="Other attention")))
    assert {"Some attention", "Other attention", "layer 1", "layer 2", "head 3"} < set(written)
    assert "head 4" not in written and written.count("head 1") == 2
    one = texts(drawn(block()))
    assert "head 1" not in one and "Some attention" not in one  # its title says it


def test_a_head_that_is_off_says_so() -> None:
    given = block(1, 2)
    given.weights[0, 1] = 0
    assert texts(drawn(given)).count("off") == 1


def test_labels_that_are_left_out_are_said() -> None:
    few, many = texts(drawn(block(1, 1, 3, 40))), texts(drawn(block(1, 4, 3, 80)))
    assert "looks at (key)" in few and "key39" in few
    assert "looks at (key); one token in 2 is labelled" in many
    assert "key2" in many and "key1" not in many


def test_more_cells_than_pixels_become_the_strongest_of_several() -> None:
    given = block(1, 8, 300, 300)
    root = drawn(given)
    assert any("a cell is the strongest of 3 × 3" in text for text in texts(root))
    assert float(root.get("width", 0)) < 2000
    assert len(cells(root)) <= 8 * 100 * 100


def test_of_several_cells_the_one_furthest_from_zero_stays() -> None:
    given = np.array([[1, -3, 0.5], [2, 0, -0.1], [0, 0, 0.2]])
    assert np.array_equal(strongest(given, 2), [[-3, 0.5], [0, 0.2]])
    assert strongest(given, 1) is given


def test_hostile_text_is_text_and_what_xml_cannot_hold_is_replaced() -> None:
    given = replace(block(), rows=["</text><script>", "&amp;", "\x00\ud800"])
    written = texts(drawn(given))
    assert {"</text><script>", "&amp;", "\ufffd\ufffd"} < set(written)


def test_hindi_brings_its_font() -> None:
    hindi = replace(block(), rows=["लड़की", "है", "।"])
    assert "@font-face" in patterns_svg([hindi], title="", facts={})
    assert "@font-face" not in patterns_svg([block()], title="", facts={})


def test_the_mark_of_a_space_is_drawn_by_a_font_inside() -> None:
    """The app's own, and only where it is needed."""
    face = 'font-family:"Headlight marks";src:url("data:font/ttf;base64,'
    marked, plain = (
        document(Drawing([f"<text>{text}</text>"], (10, 10)), "Title", {}, "light") for text in ("\u2581red", "red")
    )
    assert face in marked and face not in plain


def test_pictures_that_a_page_draws_ask_for_the_same_fonts() -> None:
    assert all(f'"{family}"' in frame.FONT for family in fonts_of("\u2581\u0939"))


@pytest.mark.parametrize("known", [False, True])
def test_the_row_of_a_question_is_outlined_and_its_unknown_cells_say_so(known: bool) -> None:
    given = replace(block(), question_row=1)
    if not known:
        given.weights[0, 0, 1] = np.nan
    root = ElementTree.fromstring(inline(block_drawing(given)))
    (outline,) = (path for path in root.iter(f"{SVG}path") if path.get("class") == "asked")
    top = sorted({y for _, y in cells(root)})[1]
    assert re.match(rf"M[\d.]+ {top:g}h\d+m0 28h", outline.get("d", ""))
    assert texts(root).count("?") == (0 if known else 3)  # of four cells the last is masked
    (label,) = (element for element in root.iter(f"{SVG}text") if element.get("font-weight") == "700")
    assert label.text == "row1"
