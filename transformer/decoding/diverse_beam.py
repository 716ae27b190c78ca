"""Diverse beam search (Vijayakumar et al. 2016): groups of beams that avoid the tokens of the groups before.

Shapes: B sentences, N live hypotheses, V target vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import torch
from torch import Tensor

from transformer.decoding.choosers import Beam, Candidates, Live
from transformer.decoding.search import Options, decode
from transformer.decoding.step import DecodeStep, Fate
from transformer.inference.prepared import Prepared
from transformer.model import Transformer

MAX_BEAM_SIZE = 100  # hypotheses of a sentence: each group ranks the whole vocabulary by itself


def diverse_beam(
    model: Transformer | Prepared,
    src: Tensor,
    size: int = 6,
    *,
    groups: int = 3,
    diversity: float = 0.5,
    length_penalty: float = 0.6,
    **options: Unpack[Options],
) -> Iterator[DecodeStep]:
    """Keep `size` hypotheses of each sentence in `groups` groups that differ from each other.

    At each step the groups choose in turn, each by beam search among the continuations of its own hypotheses. A token
    that earlier groups chose at this step costs `diversity` for each time they chose it (the Hamming diversity), and
    this stays in the sum that ranks the hypothesis. Forced tokens cost nothing. The groups have as equal a size as
    possible; with more groups than hypotheses, each hypothesis is a group. A group stops when nothing can improve its
    best finished hypotheses, and costs the others nothing from then on. One group is `beam`, and with a `diversity` of
    0 each group is the same `beam`. Raises ValueError for a size or a number of groups outside 1 to 100, and for a
    diversity or length penalty outside 0 to 10.
    """
    for name, value, least, most in (
        ("The size of the beam", size, 1, MAX_BEAM_SIZE),
        ("The number of groups", groups, 1, MAX_BEAM_SIZE),
        ("diversity", diversity, 0, 10),
        ("length_penalty", length_penalty, 0, 10),
    ):
        if not least <= value <= most:
            raise ValueError(f"{name} is {value}; it must be from {least} to {most}.")
    groups = min(groups, size)
    sizes = [size // groups + (group < size % groups) for group in range(groups)]

    def chooser(eos: int, bounds: Tensor) -> DiverseBeam:
        return DiverseBeam([Beam(eos, bounds, of_group, length_penalty) for of_group in sizes], diversity)

    return decode(model, src, chooser, options)


class DiverseBeam:
    """Let the beams choose in turn; a token costs `diversity` for each time that an earlier beam chose it."""

    def __init__(self, beams: list[Beam], diversity: float):
        self.beams, self.diversity = beams, diversity
        self.size = sum(beam.size for beam in beams)
        self.groups: Tensor | None = None  # [N] the beam of each row; None at first, where all share the rows

    def __call__(self, live: Live, allowed: Tensor, free: Tensor) -> Candidates:
        counts = allowed.new_zeros(len(self.beams[0].bounds), allowed.size(1))  # [B, V] of the earlier beams' choices
        cost = self.diversity
        parts: list[Candidates] = []
        groups: list[Tensor] = []
        for group, beam in enumerate(self.beams):
            every = torch.arange(len(allowed), device=allowed.device)
            rows = every if self.groups is None else every[self.groups == group]
            if not len(rows):
                continue
            own, log_probs = Live(*(x[rows] for x in live)), allowed[rows]
            penalty = cost * counts[own.sentences]
            if allowed is not free:  # a row with a single allowed token is forced to write it
                penalty *= (log_probs > -torch.inf).sum(1, keepdim=True) > 1
            chosen = beam.rank(own, log_probs, log_probs - penalty)
            survives = chosen.fates != Fate.PRUNED
            at = own.sentences[chosen.parents[survives]], chosen.tokens[survives]
            counts.index_put_(at, counts.new_ones(()), accumulate=True)
            parts.append(chosen._replace(parents=rows[chosen.parents]))
            groups.append(torch.full_like(chosen.tokens, group))
        merged, of_group = Candidates(*map(torch.cat, zip(*parts, strict=True))), torch.cat(groups)
        order = merged.scores.argsort(descending=True, stable=True)
        order = order[live.sentences[merged.parents[order]].argsort(stable=True)]
        merged = Candidates(*(x[order] for x in merged))
        self.groups = of_group[order][merged.fates == Fate.LIVE]
        return merged
