"""The histogram of a weight draws what it was given, and says so."""

import numpy as np
import pytest

from headlight.charts.weights import weight_histogram

EDGES, COUNTS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([3, 1000, 5])


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
