"""Strips and sums hold the numbers that they were given, under names that are text."""

import numpy as np
import plotly.graph_objects as go
import pytest

from headlight.charts.order import reordered, sums

RANDOM = np.random.default_rng(0)
FIRST = RANDOM.normal(size=(3, 5))
ORDER = [2, 1, 0]
NAMES = ["<b>one</b>", "two", "$x$"]


def scatters(figure: go.Figure, mode: str) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == mode]


def test_strips_stand_under_their_words_and_lines_join_the_same() -> None:
    figure = reordered(FIRST, FIRST[ORDER], (NAMES, NAMES[::-1]), ORDER, limit=2.0)
    above, below = (trace for trace in figure.data if trace.type == "heatmap")
    for strip, vectors in ((above, FIRST), (below, FIRST[ORDER])):
        cells = strip.z.reshape(3, 7)
        assert cells[:, :5] == pytest.approx(vectors, abs=1e-6)
        assert np.isnan(cells[:, 5:]).all()
        assert (strip.zmin, strip.zmax) == (-2, 2)
    stays, moves = scatters(figure, "lines")
    ends = [(line[0], line[-2]) for line in moves.x.reshape(2, 26)]
    centres = {place: 7 * place + 2.5 for place in range(3)}
    assert ends == [(centres[2], centres[0]), (centres[0], centres[2])]
    assert stays.x[[0, 24]].tolist() == [centres[1]] * 2
    assert figure.layout.xaxis2.ticktext == ("&lt;b&gt;one&lt;/b&gt;", "two", "&#36;x&#36;")
    assert figure.layout.xaxis.ticktext == figure.layout.xaxis2.ticktext[::-1]
    assert above.text[0][0] == "&lt;b&gt;one&lt;/b&gt;, number 1"


def test_many_words_are_named_on_hover_only() -> None:
    vectors = RANDOM.normal(size=(600, 5))
    names = [f"word {i}" for i in range(600)]
    figure = reordered(vectors, vectors, (names, names), list(range(600)), limit=1.0)
    assert {*figure.layout.xaxis.ticktext} == {""}
    assert figure.data[0].text[0][-1].startswith("word 599")


def test_sums_share_their_colours_and_their_tokens() -> None:
    parts = {"a": FIRST, "+ b": 10 * FIRST, "= c": 11 * FIRST}
    figure = sums(parts, NAMES)
    assert [trace.z.tolist() for trace in figure.data] == [v.astype(np.float32).tolist() for v in parts.values()]
    assert {trace.coloraxis for trace in figure.data} == {"coloraxis"}
    assert [note.text for note in figure.layout.annotations] == list(parts)
    limit = figure.layout.coloraxis.cmax
    assert np.abs(FIRST).max() < limit <= 11 * np.abs(FIRST).max()
    assert figure.layout.coloraxis.colorbar.ticktext[-1].startswith("≥")
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;one&lt;/b&gt;"


@pytest.mark.parametrize("n_tokens", [1, 600])
def test_few_and_many_tokens_have_a_height(n_tokens: int) -> None:
    figure = sums({"a": np.zeros((n_tokens, 4))}, ["x"] * n_tokens)
    assert 80 <= figure.layout.height <= 800
    assert figure.layout.coloraxis.cmax > 0
