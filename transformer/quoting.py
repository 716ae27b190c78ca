"""What was given, as a refusal quotes it: however long it is, the sentence stays one that can be read."""

from __future__ import annotations

from reprlib import Repr

LONGEST = 200  # characters of what was given

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = LONGEST


def quoted(value: object) -> str:
    """A value as Python writes it, such as a text in quotation marks."""
    return short(_REPR.repr(value))


def worded(error: Exception) -> str:
    """What an error says, in a sentence: the system's own have a number, and all of a name however long."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    name = error.filename if error.filename2 is None else error.filename2  # the other is one that nobody gave
    what = error.strerror if name is None else f"{short(name)} cannot be used: {error.strerror}"
    return f"{what.rstrip('.')}."


def short(text: object) -> str:
    """A text, such as a path, as it is; of a long one, its beginning and its end."""
    text = str(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}…{text[1 - LONGEST // 2 :]}"
