"""What the Attention page shows while a visitor's sentence is in line."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from headlight import checkpoints
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import page_at
from transformer import Trace
from ui.attention import waiting_example
from ui.attention.picture import ShownTrace
from ui.state import models, queue


@pytest.fixture
def drawn(shelves: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences that stood in for others."""
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = TEXTS[:1]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    monkeypatch.setattr(queue, "NOTE_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(queue, "POLL_SECONDS", 0.01)
    texts: list[str] = []
    heads = waiting_example.heads

    def recorded(shown: ShownTrace) -> None:
        heads(shown)
        texts.append(shown.trace.text)

    monkeypatch.setattr(waiting_example, "heads", recorded)
    return texts


def waited(app: AppTest, drawn: list[str], seconds: float) -> AppTest:
    """The page after it waited in line until something was drawn, or for so long."""
    begun, go = threading.Event(), threading.Event()

    def others() -> None:
        with queue.TURNS.turn():
            begun.set()
            for _ in range(round(seconds / 0.02)):
                if drawn or go.wait(0.02):
                    break

    busy = [threading.Thread(target=others, daemon=True) for _ in range(queue.TURNS._slots)]
    for thread in busy:
        thread.start()
    begun.wait(10)
    app.run()
    go.set()
    for thread in busy:
        thread.join(10)
    assert not app.exception and not app.error
    return app


def opened(text: str, **others: str) -> AppTest:
    return page_at("attention", text=text, **others)


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


@pytest.mark.parametrize("show", ["mean", "value"])
def test_the_controls_say_what_the_address_says(drawn: list[str], show: str) -> None:
    """The controls had said "raw weights", which was the choice for the example, above every other picture."""
    opened(TEXTS[1]).run()
    page = waited(opened(TEXTS[2], show=show, changes="cross.1.1"), drawn, 0.5)
    assert drawn == (TEXTS[:1] if show == "mean" else [])  # the others would have to be computed for it, in line too
    assert page.selectbox(key="show-1").value == show


def test_where_the_sentence_fails_nothing_stands_in_for_it_any_more(
    drawn: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page said that the sentence was in line for as long as it was open."""
    opened(TEXTS[1]).run()
    trace = models.Translator.trace

    def fails(self: models.Translator, text: str, *others: Any, **options: Any) -> Trace:
        if text == TEXTS[2]:
            raise ValueError("not a number")
        return trace(self, text, *others, **options)

    monkeypatch.setattr(models.Translator, "trace", fails)
    page = waited(opened(TEXTS[2]), drawn, 30)
    assert drawn == TEXTS[:1]
    assert [info.value for info in page.info] == ["not a number"]
    assert not any("in line" in caption.value for caption in page.caption)


def test_an_example_that_cannot_be_read_is_no_matter_of_who_reads_another_sentence(
    shelves: Path,
) -> None:
    checkpoint = small_checkpoint()
    checkpoint.card["examples"] = ["a " * checkpoint.model.config.max_length]
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    page = opened(TEXTS[1]).run()
    assert not page.exception and not page.error and not page.info


def test_nothing_flashes_where_nobody_is_ahead(drawn: list[str]) -> None:
    opened(TEXTS[0]).run()
    opened(TEXTS[1]).run()
    assert drawn == []
