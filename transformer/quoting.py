"""Quoting of user input in error messages, shortened so that the sentence stays readable."""

from __future__ import annotations

from reprlib import Repr

MAX_QUOTED_CHARACTERS = 200  # characters of a quoted value

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MAX_QUOTED_CHARACTERS


class UnreadableTextError(ValueError):
    """Raised for a text that a model cannot read; `values` fill the {names} of `message` in any language."""

    def __init__(self, message: str, **values: object):
        super().__init__(message.format_map(values))
        self.message, self.values = message, values


def quoted(value: object) -> str:
    """Return a shortened repr of a value, such as a text in quotation marks."""
    return short(_REPR.repr(value))


def short(text: object) -> str:
    """Return a text such as a path; a long one is shortened to its beginning and end."""
    text = str(text)
    half = MAX_QUOTED_CHARACTERS // 2
    return text if len(text) <= MAX_QUOTED_CHARACTERS else f"{text[:half]}…{text[1 - half :]}"
