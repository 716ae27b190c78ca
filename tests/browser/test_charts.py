"""What the figures look like once a real browser has drawn them, alone on a page."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Page

from headlight.charts import pattern

NASTY = ["<b>bold</b>", "<img src=x onerror=a()>", "&lt;i&gt;", "$x^2$", "%{z}", "שלום"]
ROWS = ["Une", "fille", "est", "est", "assise", "[EOS]"]
LATER = np.triu(np.ones((6, 6), bool), 1)


@pytest.fixture
def weights() -> np.ndarray:
    odds = np.tril(np.random.default_rng(0).random((6, 6)).astype(np.float32))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.fixture
def drawn(page: Page, tmp_path: Path) -> Callable[[go.Figure], Page]:
    def draw(figure: go.Figure) -> Page:
        path = tmp_path / "figure.html"
        figure.write_html(path, include_plotlyjs=True, config={"displayModeBar": False})
        page.goto(path.as_uri())
        page.wait_for_selector(".main-svg")
        return page

    return draw


def hover(page: Page, row: int, column: int) -> str:
    """The hover text of a cell, found through the figure's own axes."""
    x, y = page.evaluate(
        """([row, column]) => {
             const {xaxis, yaxis} = document.querySelector(".js-plotly-plot")._fullLayout;
             return [xaxis._offset + xaxis.d2p(column), yaxis._offset + yaxis.d2p(row)];
           }""",
        [row, column],
    )
    box = page.locator(".js-plotly-plot").bounding_box()
    assert box is not None
    page.mouse.move(0, 0)
    page.wait_for_function("!document.querySelector('.hoverlayer text')")
    page.mouse.move(box["x"] + x, box["y"] + y)
    return page.locator(".hoverlayer .hovertext").text_content(timeout=5000) or ""


def test_the_hover_names_both_tokens_and_the_exact_weight(drawn: Callable, weights: np.ndarray) -> None:
    page = drawn(pattern(weights, ROWS, ROWS, masked=LATER, reads=ROWS, scale="sqrt"))
    for row, column in ((2, 0), (3, 2), (5, 4)):
        rank = 1 + int((weights[row] > weights[row, column]).sum())
        nth = {1: "1st", 2: "2nd", 3: "3rd"}.get(rank, f"{rank}th")
        assert hover(page, row, column) == (
            f"{ROWS[row]} looks at {ROWS[column]}{weights[row, column]:#.3g}, {nth} in its row"
        )


def test_a_masked_cell_says_why_and_a_zero_says_zero(drawn: Callable, weights: np.ndarray) -> None:
    weights[4, 1] = 0
    page = drawn(pattern(weights, ROWS, ROWS, masked=LATER))
    assert hover(page, 1, 4) == "fille may not look at assisemasked: this key comes later"
    assert hover(page, 4, 1).startswith("assise looks at fille0.00, ")


def test_tokens_are_shown_literally(drawn: Callable) -> None:
    page = drawn(pattern(np.eye(6), NASTY, NASTY, reads=NASTY, width=1200))
    shown = [*NASTY[:-1], "\u2068שלום\u2069"]  # so that what stands beside it keeps its place
    for axis in ("x2", "y2", "y3"):
        assert sorted(page.locator(f".{axis}tick text").all_text_contents()) == sorted(shown)
    for i, token in enumerate(shown):
        assert hover(page, i, i) == f"{token} looks at {token}1.00, 1st in its row"
    assert page.locator(".js-plotly-plot img, .js-plotly-plot svg a").count() == 0
