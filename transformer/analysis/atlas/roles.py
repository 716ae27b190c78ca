"""Names for what heads do, given only where the numbers support them.

A head is named after a measure where all of this holds:

- at least HALF of its weight (or of the words or pronouns it is asked about) is there, and the lower end of the 95 %
  interval of that mean is still at least HALF;
- that lower end is at least TIMES what a head reaches that looks at everything alike ("chance");
- at least FEWEST sentences (or words, or pronouns) were counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from transformer.analysis.atlas.over_corpus import Atlas
from transformer.trace import Kind

HALF = 0.5
TIMES = 2.0
FEWEST = 30
RULE = (
    f"A head is named where at least half of its weight (or of the words or pronouns that it is asked about) is "
    f"there, at least {TIMES:g} times what a head reaches by looking at everything alike, and both still hold at "
    f"the lower end of the 95 % interval, over at least {FEWEST} of them."
)
NBSP = "\u00a0"


class Kindof(NamedTuple):
    """A role: the measure that decides it, what it is called, and what the head then does."""

    measure: str
    name: str
    does: str
    of: str  # what the share is a share of
    falls: bool = False  # the measure is an error: 1 less it is what counts


ROLES = (
    Kindof("antecedent", "antecedent", "looks at the antecedent", "pronouns"),
    Kindof("alignment", "alignment", "looks at what it is translating", "words", True),
    Kindof("reading", "alignment, one late", "looks at what the word before was translated from", "words", True),
    Kindof("previous", "previous token", "looks at the token before", "its weight"),
    Kindof("next", "next token", "looks at the token after", "its weight"),
    Kindof("same", "same position", "looks at the same position", "its weight"),
    Kindof("first", "first token", "looks at the first token", "its weight"),
    Kindof("special", "special tokens", "looks at special tokens", "its weight"),
    Kindof("punctuation", "punctuation", "looks at punctuation", "its weight"),
)
BY_MEASURE = {role.measure: role for role in ROLES}


class Role(NamedTuple):
    """A role that a head has, and the numbers that support it."""

    what: Kindof
    value: float
    chance: float
    units: int
    of: str = "words"  # what the corpus is aligned by

    @property
    def name(self) -> str:
        return self.what.name

    def __str__(self) -> str:
        counted = f"of {self.units:,} {named(self.what.of, self.of)}"
        if self.what.of == "its weight":
            counted = f"of its weight in {self.units:,} sentences"
        return f"{named(self.what.does, self.of)}: {_percent(self.value)} {counted}; chance {_percent(self.chance)}"


def roles(found: Atlas, kind: Kind, layer: int, head: int) -> list[Role]:
    """The roles of a head (layer and head from 0), the clearest first; mostly none."""
    given = []
    for what in ROLES:
        spread, chance = found.heads[kind].get(what.measure), found.chance[kind].get(what.measure, np.nan)
        if spread is None:
            continue
        value, error = float(spread.mean[layer, head]), float(spread.error[layer, head])
        if what.falls:
            value, chance = 1 - value, 1 - chance
        units = int(spread.units[layer, head])
        if units >= FEWEST and value - error >= max(HALF, TIMES * chance):
            given.append(Role(what, value, chance, units, found.units))
    measures = {role.what.measure: role.value for role in given}
    # In the decoder the first token is the special one: one name for one thing.
    once = [r for r in given if r.what.measure != "special" or r.value > measures.get("first", 0) + 0.05]
    return sorted(once, key=lambda role: -role.value)


def named(text: str, units: str) -> str:
    """A text about words, about what the corpus is aligned by: "looks at what the letter before ..."."""
    return text.replace("word", units.removesuffix("s"))


def shows(found: Atlas, kind: Kind, layer: int, head: int, measure: str) -> tuple[int, int]:
    """The sentences in which a measure is at its best and at its worst, by their places in the corpus; -1 for none."""
    spread = found.heads[kind][measure]
    ends = int(spread.most[layer, head]), int(spread.least[layer, head])
    falls = measure in BY_MEASURE and BY_MEASURE[measure].falls
    return (ends[1], ends[0]) if falls else ends


def since(steps: Sequence[int], names: Sequence[set[str]], name: str) -> int | None:
    """The step from which on a role is there at every snapshot; None where it is not there at the last one."""
    first = None
    for step, there in zip(steps, names, strict=True):
        if name not in there:
            first = None
        elif first is None:
            first = step
    return first


def _percent(share: float) -> str:
    return f"{100 * share:.0f}{NBSP}%"
