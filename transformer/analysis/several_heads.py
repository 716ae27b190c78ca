"""Why an attention has several heads: what one translation loses where only one of them is left, or where all of them
share one pattern.

Shapes: B rows of a batch, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.analysis.importance import LARGEST, rows_at_once, target_log_probs
from transformer.analysis.sites import attention_at
from transformer.model import Transformer
from transformer.taps import Inputs, Site

MEAN = "mean"
Left = int | str | None  # the one head that is left, MEAN for one pattern of all, None for the model as it is


class SeveralHeads(NamedTuple):
    """The log-probability of a target, in nats."""

    whole: float  # by the model as it is
    alone: tuple[float, ...]  # [H], where only that head of the attention is left
    mean: float  # where every head of it looks as their mean does


@dataclass(frozen=True)
class LeaveByRow:
    """A tap that leaves something else of one attention in each row of the batch."""

    site: Site
    left: tuple[Left, ...]

    def __call__(self, site: Site, pattern: Tensor, inputs: Inputs) -> Tensor:
        if site != self.site:
            return pattern
        changed = pattern.clone()
        for row, left in enumerate(self.left):
            if left == MEAN:
                changed[row] = pattern[row].mean(0)
            elif isinstance(left, int):
                changed[row] = 0
                changed[row, left] = pattern[row, left]
        return changed


def several_heads(
    model: Transformer,
    src_ids: Sequence[int],
    tgt_ids: Sequence[int],
    site: Site,
    largest: int = LARGEST,
    between: Callable[[], None] = lambda: None,
) -> SeveralHeads:
    """What is left of the target, which runs from [SOS] to [EOS], with each head of `site` alone.

    All other attentions stay as they are. They run as the rows of one batch, in several where a tensor would have more
    than `largest` numbers, with `between` called after each. Raises ValueError where the model has no such attention.
    """
    rows: tuple[Left, ...] = (None, *range(attention_at(model, site).n_heads), MEAN)
    size = rows_at_once(model, len(src_ids), len(tgt_ids), largest)
    parts = []
    for i in range(0, len(rows), size):
        left = rows[i : i + size]
        parts.append(target_log_probs(model, src_ids, tgt_ids, len(left), LeaveByRow(site, left)))
        between()
    whole, *alone, mean = torch.cat(parts).tolist()
    return SeveralHeads(whole, tuple(alone), mean)
