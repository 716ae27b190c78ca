"""What is said about one exercise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    NOT_WRITTEN = "not written"


@dataclass(frozen=True)
class Verdict:
    """`says` begins with the mistake; the inputs on which it was seen, and the numbers, come after."""

    name: str
    state: State
    says: tuple[str, ...]
