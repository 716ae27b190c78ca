"""Each page names the built-in mistakes of a model once."""

from __future__ import annotations

from pathlib import Path

import pytest

from headlight import checkpoints
from headlight.teaching.mistakes import break_translator
from tests.small import TEXTS, small_checkpoint, small_translator
from tests.ui.pages import open_page
from ui.widgets.break_it import describe_mistakes


@pytest.fixture
def shelf(shelves: Path) -> None:
    """A model that applies its masks, and one that does not."""
    for name, mask in (("hides", "applied"), ("unmasked", "never")):
        checkpoint = small_checkpoint(padding_mask=mask, look_ahead_mask=mask)
        checkpoint.card["examples"] = TEXTS[:2]
        checkpoints.save(checkpoint, shelves / "checkpoints" / name)


def notes(page: str, model: str) -> list[str]:
    app = open_page(page, model=model)
    return [one.value for one in (*app.markdown, *app.caption, *app.warning) if "applies no mask:" in one.value]


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("page", ["attention", "decoding", "anatomy"])
def test_a_model_without_masks_is_opened_and_says_so_once(page: str) -> None:
    assert len(notes(page, "unmasked")) == 1 and not notes(page, "hides")


def test_what_is_shown_and_what_is_written_are_two_passes_only_without_a_look_ahead_mask() -> None:
    assert "again for each token" in describe_mistakes(small_translator(look_ahead_mask="never"))
    assert "padding" in describe_mistakes(small_translator(padding_mask="never"))
    assert "again for each token" not in describe_mistakes(small_translator(padding_mask="never"))
    assert describe_mistakes(small_translator()) == ""


def test_a_model_that_is_broken_on_purpose_says_so() -> None:
    broken = break_translator(small_translator(), "no-scaling")
    note = "This model is broken on purpose (no-scaling): the scores are not divided by √d_head."
    assert describe_mistakes(broken) == note
    assert "no look-ahead mask" in describe_mistakes(break_translator(small_translator(), "no-causal-mask"))
    strange = small_translator()
    strange.card["broken"] = ["<b>"]
    assert describe_mistakes(strange) == ""
