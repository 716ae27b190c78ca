"""Two sentences beside each other: cells of one size, one scale, and what differs where tokens correspond."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from headlight.checkpoints import load_translator
from tests.browser.attention.looking import go, resize
from tools.serving import wait_until_idle

ROOT = Path(__file__).parents[3]
FIRST, SECOND = "The little girl is eating a red apple.", "The little girl is eating an apple."
ADDRESS = urlencode({"model": "en-fr", "text": FIRST, "second": SECOND, "kind": "encoder", "layer": 2, "head": 1})


def test_the_pictures_have_cells_of_one_size_and_the_difference_is_that_of_the_tokens_that_both_have(
    new_page: Callable[..., Page], app_url: str
) -> None:
    page = go(new_page(viewport={"width": 1280, "height": 900}), f"{app_url}/?{ADDRESS}")
    have_cells_of_one_size(page, beside=True)
    resize(page, {"width": 390, "height": 900})
    have_cells_of_one_size(page, beside=False)
    resize(page, {"width": 1280, "height": 900})
    is_the_difference(page)


def have_cells_of_one_size(page: Page, beside: bool) -> None:
    maps = [page.locator(f".st-key-{key} .map canvas") for key in ("head", "head-second")]
    boxes = [place.bounding_box() for place in maps]
    assert boxes[0] is not None and boxes[1] is not None
    assert (boxes[0]["y"] == pytest.approx(boxes[1]["y"], abs=2)) == beside
    cells = [[float(part) for part in str(place.get_attribute("data-cells")).split()] for place in maps]
    assert cells[0] == cells[1] and min(cells[0][2:]) >= 12
    peaks = [
        page.locator(f".st-key-{key} .hl").evaluate("root => root.view.header.peak") for key in ("head", "head-second")
    ]
    assert peaks[0] == peaks[1]


def is_the_difference(page: Page) -> None:
    page.get_by_test_id("stMain").get_by_role("radio", name="Difference").or_(
        page.get_by_test_id("stMain").get_by_role("button", name="Difference", exact=True)
    ).first.click()
    wait_until_idle(page)
    expect(page.locator(".st-key-head-difference .map canvas")).to_be_visible()
    drawn = page.locator(".st-key-head-difference .hl").evaluate(
        "root => ({ rows: root.view.header.rows, columns: root.view.header.columns, weights: [...root.view.weights] })"
    )
    model = load_translator(ROOT / "checkpoints" / "en-fr")
    traces = [model.trace(text) for text in (FIRST, SECOND)]
    labels = [trace.source.labels for trace in traces]
    assert len(drawn["rows"]) >= 7
    both = [label for label in drawn["rows"] if "/" not in label]
    at = [[of.index(label) for label in both] for of in labels]
    patterns = [trace.pattern("encoder")[1, 0] for trace in traces]
    due = patterns[1][np.ix_(at[1], at[1])] - patterns[0][np.ix_(at[0], at[0])]
    shape = len(drawn["rows"]), len(drawn["columns"])
    keep = [drawn["rows"].index(label) for label in both]
    found = np.array(drawn["weights"]).reshape(shape)[np.ix_(keep, keep)]
    np.testing.assert_allclose(found, due, atol=1e-6)
    expect(page.get_by_text("Only in the first sentence")).to_be_visible()
    expect(page.get_by_text("The largest difference:")).to_be_visible()
    assert "compare=difference" in page.url
