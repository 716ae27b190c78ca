"""Named curves: what is drawn, and where a place is marked on an axis that counts in tens."""

import numpy as np
import pytest

from headlight.charts.lines import Curve, lines

CURVES = [Curve("up", [1, 10, 100], np.array([1.0, 2.0, 3.0])), Curve("down", [1, 10, 100], np.array([3.0, 2.0, 0.5]))]


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
