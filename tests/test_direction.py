"""Which way a sentence and each of its tokens run."""

import re
import unicodedata
from xml.etree import ElementTree

import numpy as np
import pytest

from headlight.charts import pattern
from headlight.charts.svg import HeadBlock, patterns_svg
from headlight.graphemes import isolated, right_to_left, runs_left
from tests.twelve_scripts import LEFTWARDS, TOKENS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("script", TOKENS)
def test_a_sentence_runs_as_most_of_its_letters_do(script: str) -> None:
    assert right_to_left(TOKENS[script]) == (script in LEFTWARDS)
    assert right_to_left(["[SOS]", *TOKENS[script], "[EOS]"]) == (script in LEFTWARDS)


def test_names_of_tokens_are_no_words() -> None:
    assert right_to_left([">>heb<<", "▁שלום", "</s>"])
    assert right_to_left(["__ar__", "▁لا", "<0xD9>"])
    assert not right_to_left(["[SOS]", "[EOS]"]) and not right_to_left(["1995", "."])


def test_a_token_runs_as_its_first_letter_and_without_one_as_its_sentence() -> None:
    assert runs_left("▁الى", False) and not runs_left("▁BERT", True)
    assert runs_left("(", True) and not runs_left("(", False)
    assert runs_left("12", True)


def test_the_blocks_are_those_of_the_unicode_standard() -> None:
    """Exactly the letters that `unicodedata` calls right to left or Arabic run to the left."""
    for code in range(0x110000):
        letter = chr(code)
        if letter.isalpha():
            assert runs_left(letter, False) == (unicodedata.bidirectional(letter) in ("R", "AL")), hex(code)


def test_what_runs_to_the_left_is_isolated_inside_of_a_sentence() -> None:
    assert isolated("girl") == "girl"
    assert isolated("שלום") == "\u2068שלום\u2069"


def drawn(columns: list[str], weights: np.ndarray, theme: str = "light") -> ElementTree.Element:
    rows = [str(row) for row in range(len(weights))]
    block = HeadBlock("", weights[None, None], rows, columns, np.zeros(weights.shape, bool))
    return ElementTree.fromstring(patterns_svg([block], title="t", facts={"a": "b"}, theme=theme))


@pytest.mark.parametrize("script", ["Arabic", "Hebrew", "Greek"])
def test_the_columns_of_a_figure_run_as_its_sentence_and_keep_their_cells(script: str) -> None:
    columns = TOKENS[script]
    one = np.zeros((2, len(columns)), np.float32)
    one[0, 1] = 1  # the second token
    root = drawn(columns, one)
    places = {
        str(text.text): float(re.findall(r"translate\((-?[\d.]+)", text.attrib["transform"])[0])
        for text in root.iter(f"{SVG}text")
        if "rotate(-45)" in text.get("transform", "")
    }
    assert sorted(places, key=lambda label: places[label]) == (columns[::-1] if script in LEFTWARDS else columns)
    full = [path for path in root.iter(f"{SVG}path") if path.get("class") == "cells"][-1]
    at, across = map(float, re.findall(r"M(-?[\d.]+) .*?h([\d.]+)", full.attrib["d"])[0])
    assert abs(at + across / 2 - places[columns[1]]) < 6
    for text in root.iter(f"{SVG}text"):
        if text.text in columns:
            assert (text.get("direction") == "rtl") == runs_left(text.text, script in LEFTWARDS)


def test_the_axis_of_a_chart_runs_as_its_sentence() -> None:
    for script in ("Arabic", "Hebrew", "Thai"):
        columns = TOKENS[script]
        figure = pattern(np.eye(len(columns), dtype=np.float32), columns, columns)
        first, last = figure.layout.xaxis.range
        assert (first > last) == (script in LEFTWARDS)
        assert figure.layout.xaxis2.labelalias["0"] == isolated(columns[0])
        assert figure.layout.yaxis.range == (len(columns) - 0.5, -0.5)
