"""Names for what heads do, given only where the numbers support them.

A head is named after a measure where all of this holds:

- at least HALF of its weight (or of the words or pronouns it is asked about) is there, and the lower end of the 95 %
  interval of that mean is still at least HALF;
- that lower end is at least TIMES what a head reaches that looks at everything alike ("chance"); of antecedents, it
  is more than what the better of the rules that guess them reaches over the same pronouns;
- at least FEWEST of them were counted, in at least FEWEST sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from transformer.analysis.atlas.guesses import OF_PRONOUNS, RULES
from transformer.analysis.atlas.over_corpus import Atlas
from transformer.trace import Kind

HALF = 0.5
TIMES = 2.0
FEWEST = 30
RULE = (
    f"A head is named where at least half of its weight (or of the words or pronouns that it is asked about) is "
    f"there, at least {TIMES:g} times what a head reaches by looking at everything alike, and both still hold at "
    f"the lower end of the 95 % interval, over at least {FEWEST} of them in at least {FEWEST} sentences. For an "
    f"antecedent, what it must be better than is the better of two rules over the same pronouns: the nearest noun "
    f"before the pronoun, and the first noun of the sentence. A noun is a word that a pronoun of the grammar "
    f"can stand for."
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
    Kindof(
        "among_words",
        "antecedent among words",
        "looks at the antecedent more than at any other word, the pronoun itself and special tokens aside",
        "pronouns",
    ),
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


class Compared(NamedTuple):
    """What a measure has to be better than: "chance", or one of the rules that guess antecedents."""

    what: str
    value: float

    def __str__(self) -> str:
        return f"{self.what} {_percent(self.value)}"


class Role(NamedTuple):
    """A role that a head has, and the numbers that support it."""

    what: Kindof
    value: float
    against: Compared
    units: int
    of: str = "words"  # what the corpus is aligned by

    @property
    def name(self) -> str:
        return self.what.name

    def __str__(self) -> str:
        counted = f"of {self.units:,} {named(self.what.of, self.of)}"
        if self.what.of == "its weight":
            counted = f"of its weight in {self.units:,} sentences"
        return f"{named(self.what.does, self.of)}: {_percent(self.value)} {counted}; {self.against}"


def roles(atlas: Atlas, kind: Kind, layer: int, head: int) -> list[Role]:
    """The roles of a head (layer and head from 0), the clearest first; mostly none."""
    given = []
    for what in ROLES:
        spread, against = atlas.heads[kind].get(what.measure), compared(atlas, kind, what.measure)
        if spread is None or against is None:
            continue
        value, error = float(spread.mean[layer, head]), float(spread.error[layer, head])
        if what.falls:
            value, against = 1 - value, Compared(against.what, 1 - against.value)
        units, sentences = int(spread.units[layer, head]), int(spread.sentences[layer, head])
        if min(units, sentences) >= FEWEST and value - error >= HALF and _better(value - error, against):
            given.append(Role(what, value, against, units, atlas.units))
    measures = {role.what.measure: role.value for role in given}
    # One name for one thing: in the decoder the first token is the special one, and what is most of all is so of words.
    once = [r for r in given if r.what.measure != "special" or r.value > measures.get("first", 0) + 0.05]
    once = [r for r in once if r.what.measure != "among_words" or "antecedent" not in measures]
    return sorted(once, key=lambda role: -role.value)


def compared(atlas: Atlas, kind: Kind, measure: str) -> Compared | None:
    """What a head reaches that looks at everything alike, or for antecedents the better of the rules."""
    chance = atlas.chance[kind]
    names = RULES if measure in OF_PRONOUNS else (measure,)
    there = [Compared(name if name in RULES else "chance", chance[name]) for name in names if name in chance]
    return max(there, key=lambda one: one.value, default=None)


def _better(least: float, against: Compared) -> bool:
    return least > against.value if against.what in RULES else least >= TIMES * against.value


def named(text: str, units: str) -> str:
    """A text about words, about what the corpus is aligned by: "looks at what the letter before ..."."""
    return text.replace("word", units.removesuffix("s"))


class Sentence(NamedTuple):
    """A sentence by its place in the corpus, -1 for none, and the value of a measure in it."""

    place: int
    value: float


def shows(atlas: Atlas, kind: Kind, layer: int, head: int, measure: str) -> tuple[Sentence, Sentence]:
    """The sentences in which a measure is at its best and at its worst."""
    spread, at = atlas.heads[kind][measure], (layer, head)
    most = Sentence(int(spread.most[at]), float(spread.largest[at]))
    least = Sentence(int(spread.least[at]), float(spread.smallest[at]))
    falls = measure in BY_MEASURE and BY_MEASURE[measure].falls
    return (least, most) if falls else (most, least)


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
