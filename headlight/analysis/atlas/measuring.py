"""The measures of every head in a batch, computed where the pattern is made, so that no pattern is kept.

Shapes: B sentences, H heads, Q queries, K keys, V and W words of the two, P pronouns, R rules that guess.

Eight (OF_PATTERNS of `over_corpus`) are of the pattern alone, each sentence by itself: means over rows, each row as
shares of its own sum. Four compare the head with gold, in whole words (the weights of a word's tokens are summed):

"alignment" is the share of the target's aligned words for which the source word of the largest weight, special tokens
included, is none that they are aligned with, in the rows that write them. It is 1 minus the precision of these links
(Och and Ney 2003, "A systematic comparison of various statistical alignment models"), not their alignment error rate:
that also counts the second link of a word that has two, and no head whose largest weight is one word could reach 0.

"reading" is the same in the rows that read the word, one later: decoders often align best there (Chen et al. 2020,
"Accurate word alignment induction from neural machine translation").

"antecedent" is the share of pronouns whose largest weight, of all that the row looks at, is on what they stand for.

"among_words" is the same with the pronoun itself and special tokens aside: heads rest on those where they have nothing
to do, and may still prefer the antecedent among the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.atlas.batch import Look, MeasuredBatch, Pronouns, Targets
from headlight.analysis.atlas.guesses import OF_PRONOUNS, RULES
from headlight.analysis.sites import kind_of
from transformer.taps import Inputs, Site
from transformer.trace import Kind

Values = tuple[Tensor, Tensor]  # [B, H], NaN where a sentence has none, and the units [B] that each stands for
Report = Callable[[Site, str, np.ndarray, np.ndarray], None]


def measures(pattern: Tensor, look: Look) -> dict[str, Values]:
    """Every measure of `pattern` [B, H, Q, K] that this kind of attention has here."""
    total = pattern.sum(-1, keepdim=True)
    shares = torch.where(total > 0, pattern / total, 0.0) * look.rows[:, None, :, None]
    on = (total[..., 0] > 0) & look.rows[:, None]  # [B, H, Q]
    queries, keys = pattern.shape[-2:]
    distances = (torch.arange(queries)[:, None] - torch.arange(keys)).abs().to(shares)
    marked = shares @ look.marks[:, None]  # [B, H, Q, 3]
    rows = {
        "entropy": torch.special.entr(shares).sum(-1) / math.log(2),
        "distance": (shares * distances).sum(-1),
        "first": marked[..., 0],
        "special": marked[..., 1],
        "punctuation": marked[..., 2],
    }
    means = {name: _mean(values, on) for name, values in rows.items()}
    for name, offset in (("same", 0), ("previous", -1), ("next", 1)):
        means[name] = _on_offset(shares, on, look, offset)
    one = torch.ones(len(pattern), dtype=torch.int64)
    results: dict[str, Values] = {name: (values, one) for name, values in means.items()}
    if look.words is not None and look.writes is not None and look.reads is not None:
        by_word = shares @ look.words[:, None]  # [B, H, Q, W]
        results["alignment"] = _misaligned(by_word, look.writes)
        results["reading"] = _misaligned(by_word, look.reads)
    if look.words is not None and look.pronouns is not None:
        results |= _antecedents(shares, look.words, look.pronouns)
    return results


def _mean(values: Tensor, on: Tensor) -> Tensor:
    """[B, H, Q] -> [B, H], over the rows that are on; NaN where none is."""
    return (values * on).sum(-1) / on.sum(-1)


def _on_offset(shares: Tensor, on: Tensor, look: Look, offset: int) -> Tensor:
    """The share on key i + offset, over the rows that have that key and may see it."""
    diagonal = shares.diagonal(offset, -2, -1)  # [B, H, n]
    seen = look.visible.diagonal(offset, -2, -1)[:, None]
    start = max(0, -offset)
    return _mean(diagonal, seen & on[..., start : start + diagonal.size(-1)])


def _misaligned(by_word: Tensor, targets: Targets) -> Values:
    chosen = (targets.rows[:, None] @ by_word).argmax(-1)  # [B, H, V]
    aligned = targets.right.any(-1)  # [B, V]
    hit = targets.right.gather(-1, chosen.transpose(1, 2)).transpose(1, 2)  # [B, H, V]
    units = aligned.sum(-1)
    return 1 - (hit & aligned[:, None]).sum(-1) / units[:, None], units


def _antecedents(shares: Tensor, words: Tensor, pronouns: Pronouns) -> dict[str, Values]:
    at = pronouns.sentence
    asked = torch.einsum("pq,phqk->phk", pronouns.rows, shares[at]) @ words[at]  # [P, H, W]
    among = asked.masked_fill(~pronouns.others[:, None], -1)
    values = {}
    for name, weights in zip(OF_PRONOUNS, (asked, among), strict=True):
        largest, chosen = weights.max(-1)  # [P, H]
        hit = pronouns.right.gather(-1, chosen) & (largest > 0)
        values[name] = _by_sentence(hit, pronouns, len(shares))
    return values


def _by_sentence(values: Tensor, pronouns: Pronouns, sentences: int) -> Values:
    """[P, H] -> the mean of each sentence's pronouns [B, H], and how many it has [B]."""
    at = pronouns.sentence
    units = torch.zeros(sentences, dtype=torch.int64, device=at.device).index_add_(0, at, torch.ones_like(at))
    total = torch.zeros(sentences, values.size(1), device=at.device).index_add_(0, at, values.float())
    return total / units[:, None], units


def chances(look: Look) -> dict[str, Values]:
    """What uniform attention would measure: `measures` with a single head.

    Of aligned words, the mean share of wrong ones among those that could be chosen. Of pronouns, in its place, how
    often each of RULES is right.
    """
    visible = look.visible.float()[:, None]
    uniform = measures(visible, replace(look, pronouns=None))
    if look.words is not None and look.writes is not None:
        for name, targets in (("alignment", look.writes), ("reading", look.reads)):
            assert targets is not None
            right, aligned = targets.right.sum(-1), targets.right.any(-1)
            words = _seen(look).gt(0).sum(-1)  # [B]
            units = aligned.sum(-1)
            uniform[name] = ((1 - (right / words[:, None]).sum(-1) / units)[:, None], units)
    if look.pronouns is not None:
        values, units = _by_sentence(look.pronouns.guessed, look.pronouns, len(visible))  # [B, R]
        uniform |= {rule: (values[:, [column]], units) for column, rule in enumerate(RULES)}
    return uniform


def _seen(look: Look) -> Tensor:
    """Which words stand at a key that some row may see: [B, W]."""
    assert look.words is not None
    keys = look.visible.any(1).float()  # [B, K]
    return (keys[:, None] @ look.words)[:, 0]


@dataclass(frozen=True)
class Measuring:
    """A tap that measures each pattern and changes nothing; `report` gets the values site by site."""

    batch: MeasuredBatch
    report: Report

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        look = self.batch.looks[kind_of(site)]
        for name, (values, units) in measures(pattern.detach().float(), look).items():
            self.report(site, name, values.double().cpu().numpy(), units.cpu().numpy())
        return pattern


def chances_of(batch: MeasuredBatch) -> dict[Kind, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """`chances` of every kind of attention, as arrays."""
    return {
        kind: {name: (values.double().cpu().numpy(), units.cpu().numpy()) for name, (values, units) in measured.items()}
        for kind, measured in ((kind, chances(look)) for kind, look in batch.looks.items())
    }
