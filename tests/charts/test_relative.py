"""The curves of T5's bias hold the numbers that they were given."""

import numpy as np

from headlight.charts.relative import biases


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
