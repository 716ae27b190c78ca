"""Score a model as more and more heads are removed, in order of importance and in random orders.

The curves of Michel et al. 2019, "Are Sixteen Heads Really Better than One?", and of Voita et al. 2019, "Analyzing
Multi-Head Self-Attention: Specialized Heads Do the Heavy Lifting, the Rest Can Be Pruned".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from headlight.analysis.pruning.order import Head, PruningBatch, Removed, removal_order
from headlight.analysis.sites import all_heads
from headlight.formatting import percent
from transformer.model import Transformer
from transformer.pruned import prune_heads
from transformer.taps import Site

CURVE_POINTS, DRAWS = 12, 3


class Score(NamedTuple):
    """The quality of a model on data."""

    log_prob: float  # of the right translation, nats a token
    bleu: float
    exact: float  # share of sentences written exactly as the reference


class Saved(NamedTuple):
    """What a pruned model saves: parameters, and processor time over the same sentences."""

    parameters: int
    parameters_before: int
    seconds: float  # of one pass, the median of several
    seconds_before: float

    def __str__(self) -> str:
        fewer, less = 1 - self.parameters / self.parameters_before, 1 - self.seconds / self.seconds_before
        time = f"{percent(abs(less))} {'less' if less >= 0 else 'more'} processor time over the same sentences"
        return f"{self.parameters:,} of {self.parameters_before:,} parameters ({percent(fewer)} fewer), {time}"


@dataclass(frozen=True)
class Pruning:
    """The scores of a model against the number of heads that were removed from it, at P points of a curve."""

    order: tuple[Removed, ...]  # in order of removal
    every: int  # importance was measured again after this many removals
    gone: tuple[int, ...]  # [P], the heads that are removed, of `len(order)`
    in_order: tuple[Score, ...]  # [P]
    at_random: tuple[tuple[Score, ...], ...]  # [draws][P]
    measured: int  # sentences that the order comes from
    scored: int  # other sentences, which the scores come from
    saved: tuple[Saved, ...] = ()  # [P], where it was measured

    def first(self, count: int) -> list[Head]:
        """Return the first `count` heads in order of removal."""
        return [(removed.site, removed.head) for removed in self.order[:count]]

    def to_dict(self) -> dict[str, Any]:
        """Return the study as JSON has it."""
        return {
            "order": [[*removed.site, removed.head, removed.importance] for removed in self.order],
            "every": self.every,
            "gone": list(self.gone),
            "in_order": [score._asdict() for score in self.in_order],
            "at_random": [[score._asdict() for score in draw] for draw in self.at_random],
            "measured": self.measured,
            "scored": self.scored,
            "saved": [list(point) for point in self.saved],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Pruning:
        return cls(
            tuple(Removed(Site(*site), head, worth) for *site, head, worth in values["order"]),
            values["every"],
            tuple(values["gone"]),
            tuple(Score(**score) for score in values["in_order"]),
            tuple(tuple(Score(**score) for score in draw) for draw in values["at_random"]),
            values["measured"],
            values["scored"],
            tuple(Saved(*saving) for saving in values["saved"]),
        )


def prune_in_order(
    model: Transformer,
    batches: Sequence[PruningBatch],
    score: Callable[[Transformer], Score],
    scored: int,
    draws: int = DRAWS,
    every: int | None = None,
    progress: Callable[[float, str], None] = lambda share, doing: None,
) -> Pruning:
    """Remove the heads of `model` in the order that `batches` give, and `score` what is left on `scored` sentences.

    Importance is measured again after `every` heads, by default a twelfth of them, and each such measurement is a point
    of the curve. `draws` is the number of random orders, the same at each call. Raises ValueError for a model that has
    no head.
    """
    heads = all_heads(model)
    if not heads:
        raise ValueError("This model has no heads left to remove; choose another model.")
    every = max(1, round(len(heads) / CURVE_POINTS)) if every is None else every
    order = removal_order(model, batches, every, lambda share: progress(share / 2, "measuring which head can go next"))
    gone = (*range(0, len(heads), every), len(heads))
    orders = [[(head.site, head.head) for head in order]]
    orders += [random.Random(seed).sample(heads, len(heads)) for seed in range(draws)]
    ends = {0: score(model), len(heads): score(prune_heads(model, heads))}  # the same in every order
    curves = []
    for number, removed in enumerate(orders):
        scores = []
        for point, count in enumerate(gone):
            share = (number + point / len(gone)) / len(orders)
            progress(0.5 + share / 2, f"translating with {len(heads) - count} of {len(heads)} heads")
            scores.append(ends[count] if count in ends else score(prune_heads(model, removed[:count])))
        curves.append(tuple(scores))
    measured = sum(len(batch.src) for batch in batches)
    return Pruning(tuple(order), every, gone, curves[0], tuple(curves[1:]), measured, scored)
