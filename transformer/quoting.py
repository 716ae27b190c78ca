"""Quoting of user input in error messages, shortened so that the sentence stays readable."""

from __future__ import annotations

from reprlib import Repr

MAX_QUOTED_CHARACTERS = 200  # characters of a quoted value

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_QUOTED_CHARACTERS


class UnreadableTextError(ValueError):
    """Raised for a text that a model cannot read.

    `reason` and `values`, which the message names, let a page say it in another language.
    """

    def __init__(self, message: str, reason: str = "", **values: object):
        super().__init__(message)
        self.reason, self.values = reason, values


def quoted(value: object) -> str:
    """Return a shortened repr of a value, such as a text in quotation marks."""
    return short(_REPR.repr(value))


def error_message(error: Exception) -> str:
    """Return an error's message as a sentence; for an OSError, without its number, and with a shortened file name."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    name = error.filename if error.filename2 is None else error.filename2  # the other is one that nobody gave
    what = error.strerror if name is None else f"{short(name)} cannot be used: {error.strerror}"
    return f"{what.rstrip('.')}."


def short(text: object) -> str:
    """Return a text such as a path; a long one is reduced to its beginning and end."""
    text = str(text)
    half = MAX_QUOTED_CHARACTERS // 2
    return text if len(text) <= MAX_QUOTED_CHARACTERS else f"{text[:half]}…{text[1 - half :]}"
