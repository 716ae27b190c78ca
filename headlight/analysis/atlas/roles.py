"""Names for what heads do, given only where the numbers support them.

A head is named after a measure where all of this holds:

- the mean share (of its weight, or of the words or pronouns that are counted) is at least MIN_SHARE, and so is the
  lower end of that mean's 95 % interval;
- that lower end is at least MIN_RATIO_TO_UNIFORM times the share that uniform attention reaches ("chance"); for
  antecedents it is above the share that the better of the guessing rules gets right over the same pronouns;
- at least MIN_OBSERVATIONS words, pronouns or sentences were counted, in at least MIN_OBSERVATIONS sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from headlight.analysis.atlas.over_corpus import Atlas
from headlight.analysis.atlas.reading import PRONOUN_MEASURES, RULES
from headlight.analysis.description import MIN_RATIO_TO_UNIFORM, MIN_SHARE
from headlight.analysis.measures import MEASURES
from headlight.formatting import percent
from headlight.language import gettext, localized, translatable
from transformer.trace import Kind

MIN_OBSERVATIONS = 30
ROLE_RULE = (
    f"A head gets a role where the share of its weight, or of the words or pronouns counted, is at least one half "
    f"and at least {MIN_RATIO_TO_UNIFORM:g} times that of uniform attention. Both must hold at the lower end of the "
    f"95\u00a0% confidence interval, over at least {MIN_OBSERVATIONS} words or pronouns in at least {MIN_OBSERVATIONS} "
    f"sentences. For antecedents, the comparison is with the better of two simple rules on the same pronouns: the "
    f"nearest noun before the pronoun, and the first noun of the sentence. A noun is a word that a pronoun of the "
    f"grammar can stand for."
)


class RoleKind(NamedTuple):
    """A role of heads: the measure that decides it, its name, and a description of what such a head does.

    `counted` is a template: {does}, the {share}, the {count} of pronouns, units or sentences that it was measured over,
    and the {baseline}. `looks_at` names its keys where `name` does not.
    """

    measure: str
    name: str
    does: str
    counted: str
    looks_at: str = ""


_OF_PRONOUNS = translatable("{does}: {share} of {count} pronouns; {baseline}")
_OF_WORDS = translatable("{does}: {share} of {count} words; {baseline}")
_OF_LETTERS = translatable("{does}: {share} of {count} letters; {baseline}")
_OF_LETTER = translatable("looks at what the previous letter was translated from")
_OF_WEIGHT = translatable("{does}: {share} of its weight in {count} sentences; {baseline}")
ROLES = (
    RoleKind(
        "antecedent",
        translatable("antecedent"),
        translatable("looks at the antecedent"),
        _OF_PRONOUNS,
        translatable("antecedent of a pronoun"),
    ),
    RoleKind(
        "among_words",
        translatable("antecedent among words"),
        translatable(
            "looks at the antecedent more than at any other word, not counting the pronoun itself and special tokens"
        ),
        _OF_PRONOUNS,
    ),
    RoleKind(
        "alignment",
        translatable("alignment"),
        translatable("looks at what it is translating"),
        _OF_WORDS,
        translatable("word that is translated"),
    ),
    RoleKind(
        "reading",
        translatable("alignment, one step late"),
        translatable("looks at what the previous word was translated from"),
        _OF_WORDS,
        translatable("word that was translated"),
    ),
    RoleKind("previous", translatable("previous token"), translatable("looks at the previous token"), _OF_WEIGHT),
    RoleKind("next", translatable("next token"), translatable("looks at the next token"), _OF_WEIGHT),
    RoleKind("same", translatable("same position"), translatable("looks at the same position"), _OF_WEIGHT),
    RoleKind("first", translatable("first token"), translatable("looks at the first token"), _OF_WEIGHT),
    RoleKind("special", translatable("special tokens"), translatable("looks at special tokens"), _OF_WEIGHT),
    RoleKind("punctuation", translatable("punctuation"), translatable("looks at punctuation"), _OF_WEIGHT),
)
ROLE_BY_MEASURE = {role.measure: role for role in ROLES}


class Baseline(NamedTuple):
    """The score that a measure has to beat: that of chance, or of a rule that guesses antecedents."""

    name: str
    value: float

    def __str__(self) -> str:
        return f"{gettext(self.name)} {percent(self.value)}"


class Role(NamedTuple):
    """A role that a head has, and the numbers that support it."""

    kind: RoleKind
    value: float
    baseline: Baseline
    observations: int  # words, letters, pronouns or sentences that were measured
    units: str = "words"  # of the corpus's alignment

    @property
    def name(self) -> str:
        return self.kind.name

    def __str__(self) -> str:
        does, counted = self.kind.does, self.kind.counted
        if self.units == "letters":
            does = _OF_LETTER if self.kind.measure == "reading" else does
            counted = _OF_LETTERS if counted == _OF_WORDS else counted
        return gettext(
            counted,
            does=gettext(does),
            share=percent(self.value),
            count=localized(f"{self.observations:,}"),
            baseline=self.baseline,
        )


def roles(atlas: Atlas, kind: Kind, layer: int, head: int) -> list[Role]:
    """Return the roles of a head (layer and head from 0), the clearest first; most heads have none."""
    candidates = []
    for role_kind in ROLES:
        spread, baseline = atlas.heads[kind].get(role_kind.measure), compared(atlas, kind, role_kind.measure)
        if spread is None or baseline is None:
            continue
        value, error = float(spread.mean[layer, head]), float(spread.error[layer, head])
        if MEASURES[role_kind.measure].smaller_is_better:  # an error rate
            value, baseline = 1 - value, Baseline(baseline.name, 1 - baseline.value)
        count, sentences = int(spread.units[layer, head]), int(spread.sentences[layer, head])
        least = value - error
        if min(count, sentences) >= MIN_OBSERVATIONS and least >= MIN_SHARE and _beats(least, baseline):
            candidates.append(Role(role_kind, value, baseline, count, atlas.units))
    values = {role.kind.measure: role.value for role in candidates}
    # One finding, one role: in the decoder the first token is the only special one, and a head that finds the
    # antecedent among all tokens finds it among words, too.
    distinct = [r for r in candidates if r.kind.measure != "special" or r.value > values.get("first", 0) + 0.05]
    distinct = [r for r in distinct if r.kind.measure != "among_words" or "antecedent" not in values]
    return sorted(distinct, key=lambda role: -role.value)


def compared(atlas: Atlas, kind: Kind, measure: str) -> Baseline | None:
    """Return the score of uniform attention, or for antecedents the better of the rules."""
    chance = atlas.chance[kind]
    names = RULES if measure in PRONOUN_MEASURES else (measure,)
    baselines = [
        Baseline(name if name in RULES else translatable("chance"), chance[name]) for name in names if name in chance
    ]
    return max(baselines, key=lambda baseline: baseline.value, default=None)


def _beats(least: float, baseline: Baseline) -> bool:
    return least > baseline.value if baseline.name in RULES else least >= MIN_RATIO_TO_UNIFORM * baseline.value


def named(template: str, units: str) -> str:
    """Fill in a template: {unit} and {units} of the corpus's alignment ("words" or "letters")."""
    return template.format(unit=units.removesuffix("s"), units=units)


class RankedSentence(NamedTuple):
    """A sentence by its position in the corpus, -1 for none, and the value of a measure in it."""

    position: int
    value: float


def extreme_sentences(
    atlas: Atlas, kind: Kind, layer: int, head: int, measure: str
) -> tuple[RankedSentence, RankedSentence]:
    """Return the sentences in which a measure is at its best and at its worst."""
    spread, at = atlas.heads[kind][measure], (layer, head)
    most = RankedSentence(int(spread.most[at]), float(spread.largest[at]))
    least = RankedSentence(int(spread.least[at]), float(spread.smallest[at]))
    return (least, most) if MEASURES[measure].smaller_is_better else (most, least)


def since(steps: Sequence[int], names: Sequence[set[str]], name: str) -> int | None:
    """Return the first step from which every snapshot has the role; None where the last one lacks it."""
    first = None
    for step, at_step in zip(steps, names, strict=True):
        if name not in at_step:
            first = None
        elif first is None:
            first = step
    return first
