"""What was given, as a refusal quotes it: however long it is, the sentence stays one that can be read."""

from __future__ import annotations

from reprlib import Repr

LONGEST = 200  # characters of what was given

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = LONGEST


def quoted(value: object) -> str:
    """A value as Python writes it, such as a text in quotation marks."""
    return short(_REPR.repr(value))


def short(text: object) -> str:
    """A text, such as a path, as it is; of a long one, its beginning and its end."""
    text = str(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[1 - LONGEST // 2 :]}"
