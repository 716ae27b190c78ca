"""Order heads for removal: the least important first, as measured on data with the heads that are left.

Importance is what Michel et al. 2019, "Are Sixteen Heads Really Better than One?", measure one head at a time: how much
less probable the right translation is without it. Once some heads are gone, the others matter more, so it is measured
again every few heads.

Shapes: B sentences, S source tokens, T target tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from headlight.analysis.atlas.scoring import losses, without_each
from headlight.analysis.sites import all_heads
from transformer.model import Transformer
from transformer.pruned import prune_heads
from transformer.taps import Site

Head = tuple[Site, int]
Progress = Callable[[float], None]  # called between all passes with the share that is done


class PruningBatch(NamedTuple):
    src: Tensor  # [B, S]
    tgt: Tensor  # [B, T + 1], from [SOS] on
    written: Tensor  # [B] float64, tokens that are written


class Removed(NamedTuple):
    """A removed head and its importance then: the nats per token that the reference translation lost by its removal."""

    site: Site
    head: int
    importance: float


@torch.inference_mode()
def importance(
    model: Transformer, batches: Sequence[PruningBatch], passed: Callable[[], None] = lambda: None
) -> dict[Head, float]:
    """Return for each head the mean increase of a target token's loss without it, in nats.

    `passed` is called after each pass.
    """
    assert not model.training, "dropout would drown the differences"
    worth = dict.fromkeys(all_heads(model), 0.0)
    for batch in batches:
        plain = losses(model, batch.src, batch.tgt)
        for site, head, loss in without_each(model, batch.src, batch.tgt):
            worth[site, head] += float(((loss - plain) * batch.written).sum())
            passed()
    tokens = sum(float(batch.written.sum()) for batch in batches)
    return {head: total / tokens for head, total in worth.items()}


def removal_order(
    model: Transformer, batches: Sequence[PruningBatch], every: int, progress: Progress = lambda share: None
) -> list[Removed]:
    """Return all heads of the model in order of removal; importance is measured again after `every` of them."""
    removed: list[Removed] = []
    pruned, passes = model, 0
    count = len(all_heads(model))
    all_passes = sum(range(count, 0, -every)) * len(batches)
    while all_heads(pruned):

        def passed() -> None:
            nonlocal passes
            passes += 1
            progress(passes / all_passes)

        worth = importance(pruned, batches, passed)
        least = sorted(worth, key=worth.__getitem__)[:every]
        removed += [Removed(*head, worth[head]) for head in least]
        pruned = prune_heads(pruned, least)
    return removed
