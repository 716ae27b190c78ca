"""A sentence that is far from what a model was trained on gets one note on each page where it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.analysis.typical import words_of
from tests.small import TEXTS, small_checkpoint
from tests.ui.pages import open_page
from transformer import Translator
from ui.state import models
from ui.widgets.out_of_domain_note import MAX_DATA_CHARACTERS, trained_on

UNUSUAL = "unlike those that the model learned from"
UNLIKE, LIKE = TEXTS[:2]  # the small model is surer of the second


@pytest.fixture
def small(shelves: Path) -> Path:
    """A model whose threshold is between the two sentences, the only one there."""
    checkpoint = small_checkpoint()
    scores = [Translator(checkpoint).translate(text).log_prob_per_token for text in (LIKE, UNLIKE)]
    assert scores[0] > scores[1]
    checkpoint.card |= {"typical": {"log_prob_per_token": sum(scores) / 2}, "data": "Captions *of* dogs."}
    checkpoints.save(checkpoint, shelves / "checkpoints" / "small")
    return shelves / "checkpoints" / "small"


def notes(page: str, **query: str) -> list[tuple[str, str]]:
    """Return each note with its help text."""
    return [
        (caption.value, caption.help)
        for caption in open_page(page, **query).caption
        if "the model learned from" in caption.value or "never read" in caption.value
    ]


@pytest.mark.parametrize("page", ["attention", "anatomy", "decoding"])
def test_the_note_is_shown_once_where_the_sentence_is_typed(small: Path, page: str) -> None:
    ((text, help),) = notes(page, text=UNLIKE)
    assert UNUSUAL in text and help == r"It was trained on: Captions \*of\* dogs."
    assert notes(page, text=LIKE) == []


def test_it_is_about_the_sentence_alone(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note ignores typed translations and heads that are switched off."""
    for changed in ({"target": TEXTS[2]}, {"changes": "encoder.1.1,encoder.2.1,cross.1.1"}):
        assert notes("attention", text=LIKE, **changed) == []
        assert len(notes("attention", text=UNLIKE, **changed)) == 1
    assert notes("decoding", text=LIKE, strategy="sampling", temperature="2", seed="3") == []
    assert len(notes("decoding", text=UNLIKE, strategy="sampling", seed="3")) == 1


def test_what_the_page_has_decoded_is_not_decoded_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "trace", None)
    assert len(notes("decoding", text=UNLIKE)) == 1


def test_a_model_without_a_threshold_says_nothing(small: Path) -> None:
    checkpoints.save(small_checkpoint(), small)
    assert notes("attention", text=UNLIKE) == []


def test_a_word_that_was_never_read_is_named_where_the_model_is_unsure_of_it(small: Path) -> None:
    """The threshold is one that every token is below, or none."""
    first, *others = words_of(LIKE)
    checkpoint = small_checkpoint()
    checkpoint.card |= {"typical": {"log_prob_per_token": -99.0, "unread_log_prob_per_token": 0.0}}
    checkpoints.save(checkpoint, small)
    assert notes("attention", text=LIKE) == []  # without a list of words nothing is said of any
    checkpoints.save_words(small, dict.fromkeys(set(others) - {first}, 1))
    ((said, _),) = notes("attention", text=LIKE)
    assert f"The model has never read *{first}*; it will guess." in said
    checkpoints.save_words(small, dict.fromkeys([first, *others], 1))
    assert notes("attention", text=LIKE) == []
    checkpoint.card["typical"]["unread_log_prob_per_token"] = -1000.0
    checkpoints.save(checkpoint, small)
    checkpoints.save_words(small, dict.fromkeys(set(others) - {first}, 1))
    assert notes("attention", text=LIKE) == []


def test_what_a_card_says_of_its_data_is_no_markup_and_not_long() -> None:
    assert trained_on({"data": ["x"]}) is None
    hostile = {"data": "<b> [x](javascript:y)\n\n# z"}
    assert trained_on(hostile) == r"It was trained on: \<b\> \[x\]\(javascript\:y\) \# z."
    assert len(trained_on({"data": "x" * 5000}) or "") < MAX_DATA_CHARACTERS + 30
