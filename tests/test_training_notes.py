"""A run's note and tags: kept in its folder, checked, and never in the way of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headlight.runs import Notes, notes, save_notes, status
from headlight.runs.notes import MAX_NOTE_CHARACTERS, MAX_TAG_CHARACTERS, MAX_TAGS, NOTES_FILE
from tests.small_run import new_run
from ui.training.shelf import run_item


def test_they_are_kept_as_typed_and_stand_in_the_list(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    assert notes(run) == Notes() and run_item(status(run.path)).tags == ()
    save_notes(run, " <b>wider</b> ", ["wide", " wide ", "", "d_model 512"])
    assert notes(run) == Notes("<b>wider</b>", ("wide", "d_model 512"))
    assert run_item(status(run.path)).tags == ("wide", "d_model 512")
    save_notes(run, "", [])
    assert notes(run) == Notes()


@pytest.mark.parametrize(
    ("note", "tags", "refusal"),
    [
        ("x" * (MAX_NOTE_CHARACTERS + 1), [], "The note has 2,001 characters"),
        ("", ["x" * (MAX_TAG_CHARACTERS + 1)], "has 31 characters"),
        ("", list("abcdefghijklmnop"[: MAX_TAGS + 1]), "13 tags are too many"),
    ],
)
def test_what_is_too_much_is_refused_and_changes_nothing(tmp_path: Path, note: str, tags: Any, refusal: str) -> None:
    run = new_run(tmp_path)
    save_notes(run, "before", ["a"])
    with pytest.raises(ValueError, match=refusal):
        save_notes(run, note, tags)
    assert notes(run) == Notes("before", ("a",))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"note": 3, "tags": []}', '{"note": "a", "tags": [1]}', "null"])
def test_a_file_that_is_no_note_is_none(tmp_path: Path, text: str) -> None:
    run = new_run(tmp_path)
    (run.path / NOTES_FILE).write_text(text)
    assert notes(run) == Notes()
