"""A network without some of its heads: their parameters are gone, and the others keep their numbers.

Shapes: M = d_model, D = d_head.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

import torch
from torch import Tensor, nn

from transformer.attention import MultiHeadAttention
from transformer.model import Transformer
from transformer.taps import Site, among_all, only


def with_pruned(model: Transformer, heads: Iterable[tuple[Site, int]]) -> Transformer:
    """A copy of `model` that lacks exactly these heads, and computes what it does where they are switched off.

    One that `model` lacks and the copy has again adds nothing, since its numbers are 0: with no `heads`, it is a
    pruned model in the shape of the whole one. Raises ConfigError for a head that there is not.
    """
    config = replace(model.config, pruned_heads=tuple(sorted({(*site, head) for site, head in heads})))
    changed = copy.deepcopy(model)
    changed.config = config
    for module in changed.modules():
        if isinstance(module, MultiHeadAttention):
            _keep(module, config.kept_heads(*module.site))
    return changed


@torch.no_grad()
def _keep(attention: MultiHeadAttention, kept: tuple[int, ...]) -> None:
    def of_kept(numbers: Tensor, axis: int) -> nn.Parameter:
        """Of numbers that have kept * D along an axis, those of the new heads."""
        by_head = numbers.unflatten(axis, (len(attention.kept), attention.d_head)).movedim(axis, 0)
        chosen = only(kept, among_all(attention.kept, attention.n_heads, by_head[None]))[0]
        return nn.Parameter(chosen.movedim(0, axis).flatten(axis, axis + 1).clone(), numbers.requires_grad)

    width = len(kept) * attention.d_head
    for reads in (attention.query, attention.key, attention.value):
        reads.weight = of_kept(reads.weight, 0)
        if reads.bias is not None:
            reads.bias = of_kept(reads.bias, 0)
        reads.out_features = width
    attention.output.weight = of_kept(attention.output.weight, 1)
    attention.output.in_features = width
    attention.kept = kept
