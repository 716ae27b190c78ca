"""A person's note on a run and its tags, kept in the run's folder as notes.json."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from headlight.runs.folder import RunFolder
from transformer.access import require_private
from transformer.files import read_json, write_json
from transformer.quoting import quoted

NOTES_FILE = "notes.json"
MAX_NOTE_CHARACTERS, MAX_TAG_CHARACTERS, MAX_TAGS = 2000, 30, 12


@dataclass(frozen=True)
class Notes:
    note: str = ""
    tags: tuple[str, ...] = ()


def notes(run: RunFolder) -> Notes:
    """Read the notes of a run; empty where there are none or they cannot be read."""
    try:
        values = read_json(run.path / NOTES_FILE)
        return _checked(values["note"], values["tags"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return Notes()


def save_notes(run: RunFolder, note: str, tags: Iterable[str]) -> None:
    """Write the notes of a run. Raises ValueError where they are too long or too many, or may not be written."""
    require_private()
    run.recipe()
    write_json(run.path / NOTES_FILE, asdict(_checked(note, tags)))


def _checked(note: str, tags: Iterable[str]) -> Notes:
    note, each = note.strip(), tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(note) > MAX_NOTE_CHARACTERS:
        raise ValueError(f"The note has {len(note):,} characters; write at most {MAX_NOTE_CHARACTERS:,}.")
    if len(each) > MAX_TAGS:
        raise ValueError(f"{len(each)} tags are too many; keep at most {MAX_TAGS}.")
    if too_long := next((tag for tag in each if len(tag) > MAX_TAG_CHARACTERS), None):
        raise ValueError(
            f"The tag {quoted(too_long)} has {len(too_long):,} characters; choose one of at most {MAX_TAG_CHARACTERS}."
        )
    return Notes(note, each)
