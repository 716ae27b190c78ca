"""Measure what one translation loses where only one head of an attention is left, or where all heads share a pattern.

Shapes: B rows of a batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.analysis.passes import in_passes, rows_per_pass, written_log_probs
from headlight.analysis.sites import attention_at
from transformer.model import Transformer
from transformer.taps import Inputs, Site

MEAN_PATTERN = "mean"
Heads = int | str | None  # the only head left on, MEAN_PATTERN, or None for all heads


class SeveralHeads(NamedTuple):
    """The log-probability of a target, in nats."""

    whole: float  # with the unchanged model
    alone: dict[int, float]  # by head, with only that head of the attention
    mean: float  # with the mean pattern in every head of the attention


@dataclass(frozen=True)
class LeaveByRow:
    """A tap that leaves different heads of one attention on in each row of the batch."""

    site: Site
    heads_on: tuple[Heads, ...]  # by row of the batch
    remaining: tuple[int, ...]  # the heads that the attention has

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        changed = pattern.clone()
        for row, heads in enumerate(self.heads_on):
            if heads == MEAN_PATTERN:
                changed[row] = pattern[row, list(self.remaining)].mean(0)
            elif isinstance(heads, int):
                changed[row] = 0
                changed[row, heads] = pattern[row, heads]
        return changed


def several_heads(
    model: Transformer,
    src_ids: Sequence[int],
    tgt_ids: Sequence[int],
    site: Site,
) -> SeveralHeads:
    """Score the target, from [SOS] to [EOS], with each head of `site` alone.

    All other attentions are unchanged. Raises ValueError if the model has no such attention.
    """
    remaining = attention_at(model, site).remaining
    rows: tuple[Heads, ...] = (None, *remaining, MEAN_PATTERN)
    device = model.output.weight.device
    src, tgt = (torch.tensor([ids], device=device) for ids in (src_ids, tgt_ids))
    parts = []
    for heads in in_passes(rows, rows_per_pass(model, len(src_ids), len(tgt_ids))):
        tap = LeaveByRow(site, tuple(heads), remaining)
        log_probs = written_log_probs(model, src.expand(len(heads), -1), tgt.expand(len(heads), -1), tap)
        parts.append(log_probs.sum(-1))
    complete, *alone, mean = torch.cat(parts).tolist()
    return SeveralHeads(complete, dict(zip(remaining, alone, strict=True)), mean)
