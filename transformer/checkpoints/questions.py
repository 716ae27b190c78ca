"""What a foreign file does not say, and what its owner answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Answers:
    """What the owner of a file knows of it; None is not answered."""

    heads: int | None = None
    pad_id: int | None = None
    sos_id: int | None = None
    eos_id: int | None = None
    source_vocab: Path | None = None
    target_vocab: Path | None = None
    source_language: str | None = None
    target_language: str | None = None


@dataclass(frozen=True)
class Question:
    """One thing that has to be said before the import; nothing is guessed."""

    field: str  # of Answers
    text: str  # "How many heads does it have?"
    why: str  # "The file cannot say: every number that divides 512 fits the same weights."
    choices: tuple[int | str, ...] = ()  # the possible answers; empty for a file, and for an id (which goes by `below`)
    below: int = 0  # an id is a whole number from 0 to this, less one
    usual: int | str | None = None  # what the form's own text uses: offered, never assumed
    required: bool = True  # a vocabulary is not: without one, ids are shown
