"""A chart on its way to the browser."""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from headlight.charts import difference, difference_spec, pattern, pattern_spec
from ui.viewer.component import figure_json

TOKENS = ["a", "girl", "<b>", "$x$", "[EOS]"]
LATER = np.triu(np.ones((5, 5), bool), 1)


def weights() -> np.ndarray:
    odds = np.where(LATER, 0, np.random.default_rng(0).random((5, 5)))
    return (odds / odds.sum(1, keepdims=True)).astype(np.float32)


def plain(figure: go.Figure) -> dict[str, Any]:
    """Return a figure as Plotly writes it, without its template."""
    content = json.loads(figure.to_json())
    del content["layout"]["template"]
    return dict(content)


@pytest.mark.parametrize("scale", ["fixed", "row", "sqrt"])
@pytest.mark.parametrize("masked", [None, LATER])
def test_what_is_sent_is_the_figure_that_plotly_checks(scale: str, masked: np.ndarray | None) -> None:
    given: dict[str, Any] = {"scale": scale, "masked": masked, "reads": TOKENS, "theme": "dark"}
    figure = pattern(weights(), TOKENS, TOKENS, **given)
    assert json.loads(figure_json(pattern_spec(weights(), TOKENS, TOKENS, **given))) == plain(figure)
    assert json.loads(figure_json(figure))["data"] == plain(figure)["data"]


def test_a_difference_too() -> None:
    change = weights() - weights().T
    sent = json.loads(figure_json(difference_spec(change, TOKENS, TOKENS, masked=LATER)))
    assert sent == plain(difference(change, TOKENS, TOKENS, masked=LATER))
