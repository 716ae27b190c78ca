"""What the Attention page shows while a visitor's sentence is in line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.small import TEXTS, small_checkpoint
from transformer import checkpoints
from ui.attention import stand_in
from ui.attention.picture import Shown
from ui.state import queue

PAGE = Path(__file__).resolve().parents[3] / "pages" / "attention.py"


@pytest.fixture
def drawn(shelves: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The sentences that stood in for others. While there is none, somebody has the model to himself."""
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = TEXTS[:1]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    monkeypatch.setattr(queue, "SILENT", 0.0)
    monkeypatch.setattr(queue, "LOOK", 0.01)
    texts: list[str] = []
    heads = stand_in.heads

    def recorded(shown: Shown) -> None:
        heads(shown)
        texts.append(shown.trace.text)
        free.set()

    monkeypatch.setattr(stand_in, "heads", recorded)
    free = threading.Event()
    yield texts
    free.set()


def waited(app: AppTest, drawn: list[str], seconds: float) -> AppTest:
    """The page after it waited in line until something was drawn, or for so long."""
    begun, go = threading.Event(), threading.Event()

    def others() -> None:
        with queue.TURNS.turn():
            begun.set()
            for _ in range(round(seconds / 0.02)):
                if drawn or go.wait(0.02):
                    break

    busy = [threading.Thread(target=others, daemon=True) for _ in range(queue.TURNS._places)]
    for thread in busy:
        thread.start()
    begun.wait(10)
    app.run()
    go.set()
    for thread in busy:
        thread.join(10)
    assert not app.exception and not app.error
    return app


def opened(text: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    app.query_params["text"] = text
    return app


def spoken(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


def test_the_example_stands_in_for_a_sentence_in_line_and_then_gives_way(drawn: list[str]) -> None:
    """The page was empty below its title until the sentence had been read."""
    opened(TEXTS[1]).run()  # the first visitor has the example made
    page = waited(opened(TEXTS[2]), drawn, 30)
    assert drawn == TEXTS[:1]
    assert not any("in line" in caption.value for caption in page.caption)
    assert any("written by the model" in caption.value for caption in page.caption)
    assert page.text_area[0].value == TEXTS[2]


def test_nothing_stands_in_where_the_sentence_of_before_is_still_shown(drawn: list[str]) -> None:
    page = opened(TEXTS[1])
    page.run()
    page.text_area[0].set_value(TEXTS[2])
    waited(page, drawn, 0.5)
    assert drawn == []


def test_nothing_flashes_where_nobody_is_ahead(drawn: list[str]) -> None:
    opened(TEXTS[0]).run()
    opened(TEXTS[1]).run()
    assert drawn == []
