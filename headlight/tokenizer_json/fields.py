"""Check the fields of an object in a tokenizer's JSON by name and type; unknown fields are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transformer.tokenizers import MAX_TOKEN_BYTES, is_short


class Fields:
    """The fields of `what`, such as "the normalizer 'Strip'". Each method moves valid ones to `checked`, or raises."""

    def __init__(self, values: dict[str, Any], what: str) -> None:
        self.values, self.what = values, what
        self.checked: dict[str, Any] = {}

    def flags(self, *names: str, optional: bool = False) -> None:
        for name in names:
            value = self.values.get(name)
            if value is None and optional:
                continue
            if not isinstance(value, bool):
                raise self.wrong(name, "true or false")
            self.checked[name] = value

    def text(self, name: str, shortest: int = 0, optional: bool = False) -> str:
        value = self.values.get(name)
        if value is None and optional:
            return ""
        if not isinstance(value, str) or len(value) < shortest or not is_short(value):
            raise self.wrong(name, f"a text of {shortest} to {MAX_TOKEN_BYTES:,} bytes")
        self.checked[name] = value
        return value

    def character(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str) or len(value) != 1:
            raise self.wrong(name, "one character")
        self.checked[name] = value
        return value

    def choice(self, name: str, choices: Sequence[str], optional: bool = False) -> str | None:
        value = self.values.get(name)
        if value is None and optional:
            return None
        if value not in choices:
            raise self.wrong(name, f"one of {', '.join(choices)}")
        self.checked[name] = value
        return str(value)

    def number(self, name: str, low: int, high: int) -> int:
        value = self.values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"a whole number from {low:,} to {high:,}")
        self.checked[name] = value
        return value

    def wrong(self, name: str, expected: str) -> ValueError:
        return ValueError(f"{self.what} has {shown(self.values.get(name))} as its {name!r}, which must be {expected}")


def shown(value: Any) -> str:
    """Return a value as text, short enough for a sentence."""
    text = str(value) if isinstance(value, BaseException) else repr(value) if _is_small(value) else type(value).__name__
    return text if len(text) <= 100 else f"{text[:100]}…"


def _is_small(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
