"""Why an attention has several heads: what one translation loses where only one of them is left, or where all of them
share one pattern.

Shapes: B rows of a batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.analysis.importance import target_log_probs
from headlight.analysis.passes import in_passes, rows_per_pass
from headlight.analysis.sites import attention_at
from transformer.model import Transformer
from transformer.taps import Inputs, Site

MEAN = "mean"
Left = int | str | None  # the one head that is left, MEAN for one pattern of all, None for the model as it is


class SeveralHeads(NamedTuple):
    """The log-probability of a target, in nats."""

    whole: float  # by the model as it is
    alone: dict[int, float]  # by head, where only that head of the attention is left
    mean: float  # where every head of it looks as their mean does


@dataclass(frozen=True)
class LeaveByRow:
    """A tap that leaves something else of one attention in each row of the batch."""

    site: Site
    left: tuple[Left, ...]
    kept: tuple[int, ...]  # the heads that the attention has

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        changed = pattern.clone()
        for row, left in enumerate(self.left):
            if left == MEAN:
                changed[row] = pattern[row, list(self.kept)].mean(0)
            elif isinstance(left, int):
                changed[row] = 0
                changed[row, left] = pattern[row, left]
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
    rows: tuple[Left, ...] = (None, *remaining, MEAN)
    size = rows_per_pass(model, len(src_ids), len(tgt_ids))
    parts = []
    for left in in_passes(rows, size):
        tap = LeaveByRow(site, tuple(left), remaining)
        parts.append(target_log_probs(model, src_ids, tgt_ids, len(left), tap))
    complete, *alone, mean = torch.cat(parts).tolist()
    return SeveralHeads(complete, dict(zip(remaining, alone, strict=True)), mean)
