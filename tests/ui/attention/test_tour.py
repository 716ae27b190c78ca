"""The tour of the first page: to whom it is shown, and what it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.small import TEXTS
from tests.ui.pages import page_at, ran, save_small
from ui.attention.tour import stops
from ui.attention.view import AttentionView


def tour(code: str | None = None, **query: str) -> dict[str, Any]:
    """Return the data of the tour that the browser is sent."""
    app = page_at("attention", **query)
    if code is not None:
        app.session_state["parameters"] = {"code": code}
    (sent,) = [part.proto for part in ran(app).get("bidi_component") if part.proto.component_name.endswith("tour")]
    data: dict[str, Any] = json.loads(sent.json)
    return data


@pytest.fixture
def model(shelves: Path) -> None:
    save_small(shelves)


@pytest.mark.usefixtures("model")
def test_the_page_as_it_opens_is_shown_to_who_comes_first() -> None:
    sent = tour()
    assert sent["first"] is True
    assert sent["stops"] == json.loads(json.dumps(stops(AttentionView())))


@pytest.mark.usefixtures("model")
def test_neither_links_nor_classes_are_interrupted() -> None:
    assert tour(head="2")["first"] is False
    assert tour(text=TEXTS[1])["first"] is False
    assert tour(code="1234 5678")["first"] is False


def test_at_most_five_stops_say_what_is_drawn() -> None:
    said = [str(stop["text"]) for stop in stops(AttentionView())]
    assert len(said) <= 5 and max(map(len, said)) < 170
    assert any("is one head" in text for text in said)
    assert any("row is a token that looks, a column a token that it may look at" in text for text in said)
    # A difference of weights, for one, has colours that say something else.
    assert "colour" in " ".join(said)
    assert "colour" not in " ".join(str(stop["text"]) for stop in stops(AttentionView(show="difference")))
