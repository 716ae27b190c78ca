"""Charts hold the numbers that they were given: T5's bias, lengths, weights and curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.charts.lengths import lengths
from headlight.charts.lines import Curve, lines
from headlight.charts.relative import biases
from headlight.charts.weights import weight_histogram

CURVES = [Curve("up", [1, 10, 100], np.array([1.0, 2.0, 3.0])), Curve("down", [1, 10, 100], np.array([3.0, 2.0, 0.5]))]
EDGES, COUNTS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([3, 1000, 5])
some = st.lists(st.integers(1, 400), min_size=1, max_size=200)


def test_each_head_is_a_curve_over_the_distances() -> None:
    distances = np.arange(-4, 5)
    values = np.random.default_rng(0).normal(size=(10, 9)).astype(np.float32)
    figure = biases(distances, values, theme="dark")
    assert [trace.name for trace in figure.data] == [str(head) for head in range(1, 11)]
    for trace, curve in zip(figure.data, values, strict=True):
        assert trace.x.tolist() == distances.tolist() and trace.y.tolist() == curve.tolist()
    looks = {(trace.line.color, trace.line.dash) for trace in figure.data}
    assert len(looks) == 10
    assert "10 heads" in figure.layout.meta and "-4 to 4" in figure.layout.meta


@given(some, some)
def test_every_sentence_is_in_a_bar(source: list[int], target: list[int]) -> None:
    for trace in lengths(source, target).data:
        assert np.asarray(trace.y).sum() == pytest.approx(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_short_sentences_have_a_bar_each(theme: str) -> None:
    bars, line = lengths([3, 3, 5], [4], theme).data
    assert {int(x): y for x, y in zip(bars.x, bars.y, strict=True) if y} == pytest.approx({3: 2 / 3, 5: 1 / 3})
    assert [int(x) for x, y in zip(line.x, line.y, strict=True) if y] == [4]
    assert bars.marker.color != line.line.color


def test_the_sentence_says_the_means() -> None:
    assert "3.7 tokens on average in the source, 4.0 in the target" in lengths([3, 3, 5], [4]).layout.meta


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bars_stand_between_the_edges(theme: str) -> None:
    figure = weight_histogram(EDGES, COUNTS, theme=theme)
    (bars,) = figure.data
    assert bars.x.tolist() == [-1.5, 0.0, 1.5] and bars.y.tolist() == COUNTS.tolist()
    assert bars.marker.opacity[1] == 1 > bars.marker.opacity[0]  # the one on zero
    assert "1,008 numbers; most, 1,000, lie from −1 to 1" in figure.layout.meta


def test_what_lies_further_out_is_counted() -> None:
    figure = weight_histogram(EDGES, COUNTS, below=2, above=1)
    assert figure.layout.xaxis.ticktext[0] == "≤ −2" and figure.layout.xaxis.ticktext[-1] == "≥ 2"
    assert figure.data[0].customdata[0] == "up to −1"
    with pytest.raises(ValueError, match="3 bars need 4 edges"):
        weight_histogram(EDGES[1:], COUNTS)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_curve_has_a_colour_and_a_dash_of_its_own(theme: str) -> None:
    figure = lines(CURVES, "Height", "time", theme=theme)
    assert [trace.name for trace in figure.data] == ["up", "down"]
    assert len({trace.line.color for trace in figure.data}) == len({trace.line.dash for trace in figure.data}) == 2
    assert figure.layout.meta == "Height, along time: up from 1 to 3; down from 3 to 0.5."


@pytest.mark.parametrize(("logarithmic", "across"), [("", 50), ("x", np.log10(50))])
def test_a_place_is_marked_where_it_is(logarithmic: str, across: float) -> None:
    figure = lines(CURVES, "Height", "time", logarithmic=logarithmic, at=(50, "here"))
    (line,), (word,) = figure.layout.shapes, figure.layout.annotations
    assert line.x0 == line.x1 == 50 and word.x == pytest.approx(across) and word.text == "here"
