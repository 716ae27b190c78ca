"""The pictures hold the numbers that they were given."""

import numpy as np
import plotly.graph_objects as go
import pytest

from headlight.charts.positions import Smooth, pooled, pooling, similarity, waves

TABLE = np.random.default_rng(0).normal(size=(30, 8))
WAVELENGTHS = 2 * np.pi * 10.0 ** np.arange(4)


def maps(figure: go.Figure) -> list[go.Heatmap]:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def texts(figure: go.Figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_a_table_is_one_heatmap_under_its_curves() -> None:
    figure = waves(TABLE, [1, 6])
    (whole,) = maps(figure)
    assert pytest.approx(TABLE, abs=1e-6) == whole.z.T
    curves = [trace for trace in figure.data if trace.type == "scatter"]
    assert [curve.y.tolist() for curve in curves] == [TABLE[:, d].astype(np.float32).tolist() for d in (1, 6)]
    assert all(trace.xaxis in (None, "x") for trace in figure.data), "one axis of positions for all"


def test_sines_stand_above_cosines_with_their_wavelengths() -> None:
    figure = waves(TABLE, [2], wavelengths=WAVELENGTHS)
    sines, cosines = maps(figure)
    assert pytest.approx(TABLE[:, 0::2], abs=1e-6) == sines.z.T
    assert pytest.approx(TABLE[:, 1::2], abs=1e-6) == cosines.z.T
    assert (sines.y0, sines.dy, cosines.y0, cosines.dy) == (0, 2, 1, 2)
    assert figure.layout.yaxis2.domain[0] > figure.layout.yaxis3.domain[1]
    assert {"2π = 6.3 words", "63 words", "628 words", "6,283 words"} <= {*texts(figure)}
    (mark,) = [note for note in figure.layout.annotations if note.text == "■"]
    assert (mark.y, mark.yref) == (2, "y2")


def test_between_positions_only_the_line_is_drawn() -> None:
    x = np.linspace(0, 29, 291)
    figure = waves(TABLE, [0], smooth=Smooth(x, np.sin(x)[:, None]))
    line, points = (trace for trace in figure.data if trace.type == "scatter")
    assert line.y == pytest.approx(np.sin(x), abs=1e-6)
    assert line.hoverinfo == "skip"
    assert (points.mode, len(points.y)) == ("markers", 30)


def test_more_positions_than_pixels_are_means() -> None:
    table = np.random.default_rng(1).normal(size=(2_001, 3))
    (whole,) = maps(waves(table, []))
    block, _ = pooling(2_001, 3, paired=False)
    assert block == 3
    assert whole.z.shape[1] <= 800
    assert whole.z[:, 1] == pytest.approx(table[3:6].mean(0), abs=1e-6)
    assert whole.z[:, -1] == pytest.approx(table[1998:].mean(0), abs=1e-6)
    assert (whole.x0, whole.dx) == (1, 3)
    assert "mean of the 3 positions" in whole.hovertemplate


def test_the_last_mean_is_of_what_is_left() -> None:
    assert pooled(np.arange(5.0)[:, None], 2)[:, 0].tolist() == [0.5, 2.5, 4]


@pytest.mark.parametrize("table", [np.zeros((1, 1)), np.zeros((1, 4)), np.full((2, 2), -3.0), TABLE * 1e-9])
def test_small_and_flat_tables_are_drawn(table: np.ndarray) -> None:
    figure = waves(table, [0])
    low, high = figure.layout.yaxis.range
    assert low < high
    assert figure.layout.coloraxis.cmax > 0


def test_a_dimension_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no dimension 8: choose from 0 to 7"):
        waves(TABLE, [8])


def test_names_of_curves_that_end_together_stand_apart() -> None:
    table = np.ones((5, 8))
    figure = waves(table, list(range(8)))
    places = sorted(note.yshift for note in figure.layout.annotations if note.text.endswith(tuple("01234567")))
    assert np.diff(places).min() >= 12


def test_similarity_is_drawn_against_distance() -> None:
    curves = {1: np.array([0.5, 1.0, 0.4, 0.3]), 3: np.array([0.1, 0.2, 0.4, 1.0])}
    first, second = similarity(curves, 2, nested=True).data
    assert (first.x.tolist(), first.y.tolist()) == ([-1, 0, 1, 2], pytest.approx([0.5, 1.0, 0.4, 0.3]))
    assert (second.x.tolist(), second.y.tolist()) == ([-2, -1, 0], pytest.approx([0.2, 0.4, 1.0]))
    assert first.line.width > second.line.width, "the last is drawn over the others"
    low = similarity({0: np.array([1.0, -0.9])}, 1, nested=False).layout.yaxis.range[0]
    assert low < -0.9
