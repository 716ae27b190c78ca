"""Head pruning: the parameters of some heads are removed; the remaining heads keep their numbers.

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
from transformer.taps import Site, expand_heads, select_heads

Heads = Iterable[tuple[Site, int]]


def prune_heads(model: Transformer, heads: Heads) -> Transformer:
    """Return a copy of `model` without these heads; it computes what `model` computes with them switched off.

    Raises ConfigError for a head that the model does not have.
    """
    return _without(model, {*model.config.pruned_heads, *((*site, head) for site, head in heads)})


def restore_shape(model: Transformer) -> Transformer:
    """Return a copy of a pruned model in its original shape, with zero weights for the pruned heads."""
    return _without(model, set())


def _without(model: Transformer, pruned: set[tuple[str, int, str, int]]) -> Transformer:
    changed = copy.deepcopy(model)
    changed.config = config = replace(model.config, pruned_heads=tuple(sorted(pruned)))
    for module in changed.modules():
        if isinstance(module, MultiHeadAttention):
            _keep_heads(module, config.kept_heads(*module.site))
    return changed


@torch.no_grad()
def _keep_heads(attention: MultiHeadAttention, remaining: tuple[int, ...]) -> None:
    def selected(numbers: Tensor, axis: int) -> nn.Parameter:
        """Select the heads `remaining` from a tensor whose `axis` has D entries for each head of `attention`."""
        by_head = numbers.unflatten(axis, (len(attention.remaining), attention.d_head)).movedim(axis, 0)
        chosen = select_heads(remaining, expand_heads(attention.remaining, attention.n_heads, by_head[None]))[0]
        return nn.Parameter(chosen.movedim(0, axis).flatten(axis, axis + 1).clone(), numbers.requires_grad)

    width = len(remaining) * attention.d_head
    for projection in (attention.query, attention.key, attention.value):
        projection.weight = selected(projection.weight, 0)
        if projection.bias is not None:
            projection.bias = selected(projection.bias, 0)
        projection.out_features = width
    attention.output.weight = selected(attention.output.weight, 1)
    attention.output.in_features = width
    attention.remaining = remaining
